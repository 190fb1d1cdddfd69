// The SQL of commitments and their transitions.
import type { Sql, Tx } from '../../platform/index.js';
import type { Address, CommitmentState, Domain, JsonValue } from '../../protocol/index.js';
import type { StoredTransition } from './commitment.js';

export interface CommitmentRow {
  home: string;
  commitmentId: string;
  conversationId: string;
  proposalId: string;
  proposalVersion: number;
  proposalDigest: string;
  debtor: Address;
  creditor: Address;
  content: JsonValue;
  deadline: Date | null;
  localAssessment: CommitmentState;
  createdFromInteraction: string;
  transitionCount: number;
  createdAt: Date;
  updatedAt: Date;
}

function columns(sql: Sql) {
  return sql`home, commitment_id, conversation_id, proposal_id, proposal_version, proposal_digest, debtor, creditor,
    content, deadline, local_assessment, created_from_interaction, transition_count, created_at, updated_at`;
}

export async function readCommitmentRow(
  sql: Sql,
  key: { home: string; commitmentId: string },
): Promise<CommitmentRow | undefined> {
  const [row] = await sql<CommitmentRow[]>`
    select ${columns(sql)}
      from federation.commitments
     where home = ${key.home}
       and commitment_id = ${key.commitmentId}`;
  return row;
}

/** Locks the commitment, so that its transitions get their places one after another. */
export async function lockCommitment(
  tx: Tx,
  key: { home: string; commitmentId: string },
): Promise<CommitmentRow | undefined> {
  const [row] = await tx<CommitmentRow[]>`
    select ${columns(tx)}
      from federation.commitments
     where home = ${key.home}
       and commitment_id = ${key.commitmentId}
       for update`;
  return row;
}

export interface ListCommitments {
  home: string;
  /** When the last of the page before was changed, in microseconds as PostgreSQL has them, and its id. */
  after?: { updatedUs: number; commitmentId: string } | undefined;
  limit: number;
}

export function listCommitmentRows(
  sql: Sql,
  { home, after, limit }: ListCommitments,
): Promise<(CommitmentRow & { updatedUs: number })[]> {
  const place = after && sql`timestamptz 'epoch' + ${after.updatedUs}::bigint * interval '1 microsecond'`;
  return sql<(CommitmentRow & { updatedUs: number })[]>`
    select ${columns(sql)}, (extract(epoch from updated_at) * 1000000)::bigint as updated_us
      from federation.commitments
     where home = ${home}
       ${after && place ? sql`and (updated_at, commitment_id) < (${place}, ${after.commitmentId}::text)` : sql``}
     order by updated_at desc, commitment_id desc
     limit ${limit}`;
}

/** The copies of a commitment here in which a domain takes part; at most the two parties'. */
export function readCopiesFor(
  sql: Sql,
  { commitmentId, domain }: { commitmentId: string; domain: Domain },
): Promise<CommitmentRow[]> {
  return sql<CommitmentRow[]>`
    select ${columns(sql)}
      from federation.commitments
     where commitment_id = ${commitmentId}
       and (split_part(creditor, '/', 3) = ${domain} or split_part(debtor, '/', 3) = ${domain})
     order by home
     limit 2`;
}

export async function insertCommitment(
  tx: Tx,
  row: Omit<CommitmentRow, 'createdAt' | 'updatedAt' | 'transitionCount'>,
): Promise<boolean> {
  const rows = await tx`
    insert into federation.commitments (home, commitment_id, conversation_id, proposal_id, proposal_version,
           proposal_digest, debtor, creditor, content, deadline, local_assessment, created_from_interaction)
    values (${row.home}, ${row.commitmentId}, ${row.conversationId}, ${row.proposalId}, ${row.proposalVersion},
            ${row.proposalDigest}, ${row.debtor}, ${row.creditor}, ${tx.json(row.content)}, ${row.deadline},
            ${row.localAssessment}, ${row.createdFromInteraction})
    on conflict (home, commitment_id) do nothing
    returning 1`;
  return rows.length === 1;
}

export async function updateAssessment(
  tx: Tx,
  row: { home: string; commitmentId: string; state: CommitmentState; count: number },
): Promise<void> {
  await tx`
    update federation.commitments
       set local_assessment = ${row.state}, transition_count = ${row.count}, updated_at = hearth_now()
     where home = ${row.home}
       and commitment_id = ${row.commitmentId}`;
}

export type NewTransition = Omit<StoredTransition, 'storedAt'> & {
  home: string;
  commitmentId: string;
  headerDigest: string;
  previous: string;
  issuedAt: Date;
};

export async function insertTransition(tx: Tx, row: NewTransition): Promise<void> {
  await tx`
    insert into federation.commitment_transitions (home, commitment_id, position, message_id, author,
           author_principal_id, kind, header, header_digest, signature, body, previous, certificate, issued_at)
    values (${row.home}, ${row.commitmentId}, ${row.position}, ${row.messageId}, ${row.author},
            ${row.authorPrincipalId}, ${row.kind}, ${row.header}, ${row.headerDigest}, ${row.signature}, ${row.body},
            ${row.previous}, ${row.certificate}, ${row.issuedAt})`;
}

export function readTransitions(
  sql: Sql,
  { home, commitmentId, after, limit }: { home: string; commitmentId: string; after: number; limit: number },
): Promise<StoredTransition[]> {
  return sql<StoredTransition[]>`
    select position, message_id, author, author_principal_id, kind, header, signature, body, certificate, stored_at
      from federation.commitment_transitions
     where home = ${home}
       and commitment_id = ${commitmentId}
       and position > ${after}
     order by position
     limit ${limit}`;
}
