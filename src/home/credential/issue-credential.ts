// Issues and revokes credentials. The token is in the answer and nowhere else.
import { appendAudit } from '../../foundation/index.js';
import type { Clock, Database, Random, Tx } from '../../platform/index.js';
import { LIMITS, mintId, type Refusal, refuse } from '../../protocol/index.js';
import { type Principal, principalByAddress, receives } from '../principal/index.js';
import { type CredentialKind, hashToken, newToken, unfitFor } from './credential.js';
import { insertCredential, markRevoked } from './store.js';

export interface CredentialGateway {
  db: Database;
  clock: Clock;
  random: Random;
}

export interface IssueCredential {
  kind: CredentialKind;
  /** Address of the principal that it speaks for; its tenant becomes the credential's. */
  principal: string;
  /** Producers: what their inputs come from; their own address unless said. */
  source?: string | undefined;
  label: string;
  expiresAt?: Date | undefined;
  /** Address of who asks, for the audit. */
  actor: string;
}

export interface CredentialIssued {
  ok: true;
  id: string;
  token: string;
}

export type CredentialRefusal = Refusal<'principal_unknown' | 'principal_unfit' | 'request_invalid'>;

export async function issueCredential(
  gateway: CredentialGateway,
  request: IssueCredential,
): Promise<CredentialIssued | CredentialRefusal> {
  return gateway.db.transact('issue credential', async (tx) => {
    const principal = await principalByAddress(tx, request.principal);
    if (!principal || !receives(principal)) {
      return refuse('principal_unknown', `there is no principal ${request.principal}`);
    }
    const unfit = unfitFor(request.kind, principal);
    if (unfit) return refuse('principal_unfit', `${principal.address}: ${unfit}`);
    const fault = faultOf(request);
    if (fault) return refuse('request_invalid', fault);
    return storeCredential(tx, gateway, { ...request, principal });
  });
}

/** Writes a credential of a principal that was found fit. */
export async function storeCredential(
  tx: Tx,
  { clock, random }: Pick<CredentialGateway, 'clock' | 'random'>,
  issue: Omit<IssueCredential, 'principal'> & { principal: Principal },
): Promise<CredentialIssued> {
  const { principal, kind, label, actor } = issue;
  const token = newToken(kind, random);
  const id = mintId('cred', principal.home, { now: clock.now(), random: (count) => random.bytes(count) });
  await insertCredential(tx, {
    id,
    tokenHash: hashToken(token),
    kind,
    home: principal.home,
    tenant: principal.tenant,
    source: kind === 'producer' ? (issue.source ?? principal.address) : null,
    label,
    expiresAt: issue.expiresAt ?? null,
  });
  await appendAudit(tx, {
    home: principal.home,
    actor,
    action: 'credential.issue',
    object: id,
    outcome: 'issued',
    details: { kind, principal: principal.address },
  });
  return { ok: true, id, token };
}

/** False when there is no such credential, or it was revoked before. Counts from the next request on. */
export async function revokeCredential(db: Database, { id, actor }: { id: string; actor: string }): Promise<boolean> {
  return db.transact('revoke credential', async (tx) => {
    const revoked = await markRevoked(tx, id);
    if (!revoked) return false;
    await appendAudit(tx, { home: revoked.home, actor, action: 'credential.revoke', object: id, outcome: 'revoked' });
    return true;
  });
}

function faultOf({ kind, source, label }: IssueCredential): string | undefined {
  if (source !== undefined && kind !== 'producer') return 'only a producer has a source';
  if (source !== undefined && (source === '' || source.length > LIMITS.identifierBytes))
    return 'the source is too long';
  if (label.length > LIMITS.shortTextChars) return 'the label is too long';
  return undefined;
}
