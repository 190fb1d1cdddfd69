/** Where a fact comes from. */
import type { Sql, Tx } from '../../platform/index.js';
import { homeOf } from '../../protocol/index.js';
import { foundationSource } from '../input/index.js';
import { effectFact, type Fact, runFact } from './fact.js';

export interface Cause {
  inputId: string;
  /** Facts in a row that led to it; 0 when none did. */
  depth: number;
}

/** The input that activated a run, and the deepest fact among all that it took. */
export async function causeOfRun(
  sql: Sql,
  { home, runId }: { home: string; runId: string },
): Promise<Cause | undefined> {
  const [row] = await sql<Cause[]>`
    select r.input_id, coalesce(
             (select max((i.data ->> 'depth')::integer)
                from foundation.candidates c
                join foundation.inputs i on i.home = c.input_home and i.id = c.input_id
               where c.home = ${home} and c.run_id = ${runId} and i.source = ${foundationSource}), 0) as depth
      from (select c.input_id
              from foundation.runs run
              join foundation.candidates c on c.home = run.home and c.id = run.activation_candidate_id
             where run.home = ${home} and run.id = ${runId}) r`;
  return row;
}

/** What is to be told of a run or an effect now, by its subject; its row stays locked until the transaction ends. */
export function lockedFact(
  tx: Tx,
  { tenant, subject }: { tenant: string; subject: string },
): Promise<Omit<Fact, 'ids'> | undefined> {
  const id = subject.slice(subject.indexOf(':') + 1);
  const place = { home: homeOf(id) ?? '', id, tenant };
  return subject.startsWith('run:') ? lockedRun(tx, place) : lockedEffect(tx, place);
}

interface Place {
  home: string;
  id: string;
  tenant: string;
}

type RunRow = Parameters<typeof runFact>[0] & {
  status: Parameters<typeof runFact>[1] | 'queued' | 'running';
  reasonCode: string | null;
};

async function lockedRun(tx: Tx, { home, id, tenant }: Place): Promise<Omit<Fact, 'ids'> | undefined> {
  const [run] = await tx<RunRow[]>`
    select home, id, tenant, session_id, status, reason_code
      from foundation.runs
     where home = ${home} and id = ${id} and tenant = ${tenant}
       for share`;
  if (!run || run.status === 'queued' || run.status === 'running') return undefined;
  return runFact(run, run.status, run.reasonCode);
}

async function lockedEffect(tx: Tx, { home, id, tenant }: Place): Promise<Omit<Fact, 'ids'> | undefined> {
  const [effect] = await tx<Parameters<typeof effectFact>[0][]>`
    select home, effect_id, tenant, action, run_id, status, reason_code
      from foundation.effects
     where home = ${home} and effect_id = ${id} and tenant = ${tenant}
       for share`;
  return effect && effectFact(effect);
}
