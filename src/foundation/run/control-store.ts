/** What was decided for a live run and has to reach the process that drives it. */
import type { Sql, Tx } from '../../platform/index.js';

export interface RunControl {
  seq: number;
  verb: 'steer' | 'cancel';
  candidateId: string;
  inputHome: string;
  inputId: string;
}

export interface InsertControl {
  home: string;
  runId: string;
  verb: 'steer' | 'cancel';
  candidateId: string;
  inputHome: string;
  inputId: string;
}

/** Numbered under the run's row lock. The caller holds the session, so the run is live. */
export async function insertControl(tx: Tx, control: InsertControl): Promise<void> {
  await tx`
    with run as (
      update foundation.runs
         set control_cursor = control_cursor + 1
       where home = ${control.home} and id = ${control.runId}
      returning home, id, control_cursor
    )
    insert into foundation.run_controls (home, run_id, seq, verb, candidate_id, input_home, input_id)
    select home, id, control_cursor, ${control.verb}, ${control.candidateId}, ${control.inputHome}, ${control.inputId}
      from run`;
}

export async function selectOpenControls(
  sql: Sql,
  { home, runId, after }: { home: string; runId: string; after: number },
): Promise<RunControl[]> {
  return sql<RunControl[]>`
    select seq, verb, candidate_id, input_home, input_id
      from foundation.run_controls
     where home = ${home} and run_id = ${runId} and seq > ${after} and delivered_at is null
     order by seq
     limit 100`;
}

export async function markDelivered(
  tx: Tx,
  { home, runId, seq }: { home: string; runId: string; seq: number },
): Promise<void> {
  await tx`
    update foundation.run_controls
       set delivered_at = hearth_now()
     where home = ${home} and run_id = ${runId} and seq = ${seq} and delivered_at is null`;
}

/** Whether somebody wants a run to end, delivered or not. */
export async function isCancelWanted(sql: Sql, { home, runId }: { home: string; runId: string }): Promise<boolean> {
  const rows = await sql`
    select seq
      from foundation.run_controls
     where home = ${home} and run_id = ${runId} and verb = 'cancel'
     limit 1`;
  return rows.length > 0;
}

export async function selectUndeliveredSteers(
  sql: Sql,
  { home, runId }: { home: string; runId: string },
): Promise<{ candidateId: string }[]> {
  return sql<{ candidateId: string }[]>`
    select candidate_id
      from foundation.run_controls
     where home = ${home} and run_id = ${runId} and verb = 'steer' and delivered_at is null
     order by seq`;
}

/** Which of several runs have a steer that never reached them. */
export async function selectMissedRuns(
  sql: Sql,
  runs: readonly { home: string; id: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ runId: string }[]>`
    select distinct run_id
      from foundation.run_controls
     where (home, run_id) in (select home, id
                                from unnest(${runs.map(({ home }) => home)}::text[],
                                            ${runs.map(({ id }) => id)}::text[]) as n (home, id))
       and verb = 'steer' and delivered_at is null`;
  return new Set(rows.map(({ runId }) => runId));
}

/** A new attempt has seen nothing of what the dead one was told, so it is told again. */
export async function repeatSteers(
  tx: Tx,
  { home, from, to }: { home: string; from: string; to: string },
): Promise<void> {
  await tx`
    with repeated as (
      insert into foundation.run_controls (home, run_id, seq, verb, candidate_id, input_home, input_id)
      select home, ${to}, row_number() over (order by seq), verb, candidate_id, input_home, input_id
        from foundation.run_controls
       where home = ${home} and run_id = ${from} and verb = 'steer'
      returning seq
    )
    update foundation.runs
       set control_cursor = (select count(*) from repeated)
     where home = ${home} and id = ${to}`;
}
