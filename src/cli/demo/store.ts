/** Reads the demo's ending from a domain's own database: what its operator would find there, asked without the domain. */
import type { Sql } from '../../platform/index.js';

export interface CommitmentRow {
  commitmentId: string;
  localAssessment: string;
  /** Digest of each transition's signed header, in the order of issue. */
  transitions: string[];
  kinds: string[];
}

export function readCommitments(sql: Sql): Promise<CommitmentRow[]> {
  return sql<CommitmentRow[]>`
    select c.commitment_id,
           c.local_assessment,
           array_agg(t.header_digest order by t.issued_at, t.header_digest) as transitions,
           array_agg(t.kind order by t.issued_at, t.header_digest) as kinds
      from federation.commitments c
      join federation.commitment_transitions t using (home, commitment_id)
     group by c.home, c.commitment_id, c.local_assessment, c.created_at
     order by c.created_at
     limit 1000`;
}

export interface RunCounts {
  completed: number;
  continued: number;
  live: number;
}

export async function countRuns(sql: Sql): Promise<RunCounts> {
  const [row] = await sql<RunCounts[]>`
    select count(*) filter (where status = 'completed')::int as completed,
           count(*) filter (where status = 'completed' and resumed_from_run_id is not null)::int as continued,
           count(*) filter (where status in ('queued', 'running'))::int as live
      from foundation.runs`;
  return row ?? { completed: 0, continued: 0, live: 0 };
}

/** Effects by action and status, such as `http.post succeeded`. */
export async function countEffects(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; count: number }[]>`
    select action || ' ' || status as name,
           count(*)::int as count
      from foundation.effects
     group by 1
     order by 1
     limit 100`;
  return Object.fromEntries(rows.map((row) => [row.name, row.count]));
}

export async function countUnsettled(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
      from federation.outbox_items
     where status <> 'delivered'`;
  return row?.count ?? 0;
}
