/** The list of inputs, the newest first, also by what was decided on them. */
import type { Sql } from '../../platform/index.js';
import type { InputKind, InputRecord } from '../input/index.js';
import {
  between,
  inOrder,
  inRange,
  inScope,
  type Placed,
  placeColumn,
  readEdges,
  readTimed,
  type TimedRange,
  type TimedRows,
} from '../timed-list/index.js';
import type { CandidateRecord } from './candidate-store.js';
import type { Decision } from './decide-activation.js';

export interface ListInputs {
  tenant: string;
  /** The mailboxes that they came through. */
  homes: readonly string[] | 'all';
  /** The home of an agent that they concerned. */
  concerned?: string | undefined;
  kind?: InputKind | undefined;
  /** A type, or a prefix that ends in `.*`. */
  type?: string | undefined;
  source?: string | undefined;
  disposition?: Decision | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  range: TimedRange;
}

const sorted = { table: 'foundation.inputs', by: 'received_at' } as const;

export function selectInputs(sql: Sql, list: ListInputs): Promise<TimedRows<InputRecord>> {
  const { tenant, homes, kind, source, range } = list;
  const scope = { tenant, homes };
  return readTimed<InputRecord>({
    range,
    edges: (from) => readEdges(sql, { ...sorted, from, scope }),
    rows: () => sql<Placed<InputRecord>[]>`
      select home, id, tenant, kind, type, source, source_event_id, body_digest, principal, trust_class, subject,
             target, control, occurred_at, received_at, correlation_id, causation_id, data_content_type, data, position,
             ${placeColumn(sql, sorted)}
        from foundation.inputs i
       where ${inScope(sql, scope)}
         ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
         ${source === undefined ? sql`` : sql`and source = ${source}`}
         ${ofType(sql, list)}
         ${decided(sql, list)}
         ${between(sql, sorted, list)}
         ${inRange(sql, sorted, range)}
       ${inOrder(sql, sorted, range)}`,
  });
}

function ofType(sql: Sql, { type }: ListInputs) {
  if (type === undefined) return sql``;
  return type.endsWith('.*') ? sql`and starts_with(type, ${type.slice(0, -1)})` : sql`and type = ${type}`;
}

function decided(sql: Sql, { disposition, concerned }: ListInputs) {
  if (disposition === undefined && concerned === undefined) return sql``;
  return sql`
         and exists (select 1
                       from foundation.candidates c
                      where c.input_id = i.id
                        ${disposition === undefined ? sql`` : sql`and c.decision = ${disposition}`}
                        ${concerned === undefined ? sql`` : sql`and c.home = ${concerned}`})`;
}

/** What was decided on each of these inputs, `limit` of each. */
export async function selectDecisions(
  sql: Sql,
  { inputIds, limit }: { inputIds: readonly string[]; limit: number },
): Promise<CandidateRecord[]> {
  return sql<CandidateRecord[]>`
    select found.*
      from unnest(${[...inputIds]}::text[]) as given (input_id)
     cross join lateral (
             select home, id, tenant, position, input_home, input_id, route, session_id, decision, policy_id, reason, status,
                    run_id, attempt, decided_at
               from foundation.candidates c
              where c.input_id = given.input_id
              order by c.id
              limit ${limit}) found`;
}

/** What is queued for a session: its lane, the next first. */
export async function selectLane(
  sql: Sql,
  { home, sessionId, limit }: { home: string; sessionId: string; limit: number },
): Promise<CandidateRecord[]> {
  return sql<CandidateRecord[]>`
    select home, id, tenant, position, input_home, input_id, route, session_id, decision, policy_id, reason, status,
           run_id, attempt, decided_at
      from foundation.candidates
     where home = ${home} and session_id = ${sessionId} and status = 'queued'
     order by position, id
     limit ${limit}`;
}
