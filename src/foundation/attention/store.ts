/** What an agent's attention has done lately. */
import type { Sql } from '../../platform/index.js';

/** Events that woke an agent within a window, counted up to a number. */
export async function countWakes(
  sql: Sql,
  { home, windowMs, most }: { home: string; windowMs: number; most: number },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)
      from (select 1
              from foundation.candidates
             where home = ${home} and attention ->> 'verdict' = 'wake'
               and decided_at > hearth_now() - ${windowMs} * interval '1 millisecond'
             limit ${most}) woken`;
  return row?.count ?? 0;
}

export interface FindDuplicate {
  home: string;
  input: { id: string; tenant: string; principal: string; type: string; key: string };
  windowMs: number;
}

/** Whether the same principal's key for the same type waits in the agent's lane, or was taken within the window. */
export async function findDuplicate(sql: Sql, find: FindDuplicate): Promise<'waiting' | 'seen' | undefined> {
  const { home, input, windowMs } = find;
  const [row] = await sql<{ waiting: boolean }[]>`
    select c.status = 'queued' as waiting
      from foundation.inputs i
      join foundation.candidates c on c.input_id = i.id and c.home = ${home}
     where i.tenant = ${input.tenant} and i.idempotency_key = ${input.key} and i.principal = ${input.principal}
       and i.type = ${input.type} and i.id <> ${input.id} and c.decision <> 'IGNORE'
       and (c.status = 'queued' or c.decided_at > hearth_now() - ${windowMs} * interval '1 millisecond')
     order by c.status = 'queued' desc
     limit 1`;
  if (!row) return undefined;
  return row.waiting ? 'waiting' : 'seen';
}
