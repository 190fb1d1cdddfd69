// The real thing beside the reference: agents on a real database, driven to rest after every step, and read back in the
// reference's own terms.
import { vi } from 'vitest';
import {
  type AgentDefinition,
  drainRuns,
  type FoundationParts,
  openLanes,
  type RunEnding,
  reapRuns,
  replaySuspensions,
  resolveInputs,
  startRuns,
} from '../../../src/foundation/index.js';
import type { Database } from '../../../src/platform/index.js';
import { openFoundationWorld } from '../../support/foundation-world.js';
import { createPuppets } from './puppet-runtime.js';
import { answerType, type RefAgent, type RefEnding, type RefInput, type RefWorld } from './reference-session.js';

const windowMs = 5 * 60_000;

export type Machine = Awaited<ReturnType<typeof openMachine>>;

export async function openMachine(db: Database, settings: readonly RefAgent[], name: string) {
  const puppets = createPuppets();
  const world = openFoundationWorld(db, { kinds: puppets.kinds });
  const agents: AgentDefinition[] = [];
  for (const { whenActive, runtime, laneOrder, merges } of settings) {
    const lane = { laneOrder, mergeWindowMs: merges ? windowMs : 0 };
    agents.push(await world.addAgent({ whenActive, runtimeId: runtime.runtime_id, ...lane }));
  }
  const homes = agents.map(({ home }) => home);
  const inputs: string[] = [];
  const resource = (subject: string | undefined) =>
    subject === undefined ? {} : { subject: { resource: `${name}/${subject}` } };
  for (const agent of agents) {
    for (const subject of ['s0', 's1']) await world.subscribe(agent, { type: 'test.*', subject: `${name}/${subject}` });
  }
  let host: FoundationParts = world.host();

  async function rest(): Promise<void> {
    await vi.waitUntil(
      async () => {
        await resolveInputs(host);
        await replaySuspensions(host);
        await openLanes(host);
        await startRuns(host);
        return isAtRest();
      },
      { interval: 1, timeout: 20_000 },
    );
  }

  /** Read in one statement, since a run that ends begins the next in the same commit. */
  async function isAtRest(): Promise<boolean> {
    const [seen] = await db.sql<{ open: number; running: string[] }[]>`
      with mine as (select * from foundation.runs where home = any(${homes}) and status in ('queued', 'running')),
           untold as (
             select 1
               from foundation.run_controls c
               join mine r on r.home = c.home and r.id = c.run_id
               join foundation.inputs i on i.home = c.input_home and i.id = c.input_id
              where c.verb = 'cancel' or (c.delivered_at is null and coalesce(i.data ->> 'refused', 'false') <> 'true'))
      select (select count(*) from foundation.inputs where position is null)
           + (select count(*) from foundation.input_log_heads where resolved_position < position)
           + (select count(*) from foundation.suspensions where status = 'open' and replayed_at is null)
           + (select count(*) from mine where status = 'queued')
           + (select count(*) from untold) as open,
             array(select id from mine where status = 'running') as running`;
    if (!seen || seen.open > 0) return false;
    const driven = host.live.list().map(({ runId }) => runId);
    return (
      driven.length === seen.running.length && seen.running.every((id) => driven.includes(id) && puppets.live.has(id))
    );
  }

  async function sessionIds(agent: number): Promise<string[]> {
    const rows = await db.sql<{ id: string }[]>`
      select id from foundation.sessions where home = ${homes[agent] ?? ''} order by created_at, id`;
    return rows.map(({ id }) => id);
  }

  async function liveRun(agent: number, session: number): Promise<string> {
    const [row] = await db.sql<{ activeRunId: string | null }[]>`
      select active_run_id from foundation.sessions where id = ${(await sessionIds(agent))[session] ?? ''}`;
    if (!row || row.activeRunId === null) throw new Error(`session ${session} of agent ${agent} runs nothing`);
    return row.activeRunId;
  }

  async function targetOf({ kind, agent, control }: RefInput) {
    if (control) {
      const session = (await sessionIds(agent ?? -1))[control.session] ?? '';
      if (control.run === undefined) return { target: { session } };
      const runs = await db.sql<{ id: string }[]>`
        select id from foundation.runs where session_id = ${session} order by created_at, id`;
      return { target: { run: runs[control.run]?.id ?? '' } };
    }
    return kind === 'event' ? {} : { target: { agent: agents[agent ?? -1]?.agent ?? '' } };
  }

  return {
    async send(sent: readonly RefInput[]): Promise<void> {
      for (const input of sent) {
        const { kind, type, subject, priority, historical, refused, control } = input;
        const body = { kind, type, ...resource(subject), data: { refused }, ...(await targetOf(input)) };
        inputs.push(
          await world.send(body, {
            priority,
            trustClass: historical ? 'historical_evidence' : 'untrusted_content',
            ...(control ? { control: { verb: control.verb, authority: 'human://alpha.test/users/u' } } : {}),
          }),
        );
      }
      await rest();
    },
    async end(agent: number, session: number, ending: RefEnding, waitsFor: string | undefined): Promise<void> {
      const runId = await liveRun(agent, session);
      puppets.live.get(runId)?.(endingOf(ending, `${name}/${waitsFor ?? 'nothing'}`));
      await vi.waitUntil(() => host.live.list().every((run) => run.runId !== runId), { interval: 1 });
      await rest();
    },
    /** One run's lease ends under a host that goes on; what its runtime says afterwards counts no more (BR-57). */
    async lapse(agent: number, session: number): Promise<void> {
      const runId = await liveRun(agent, session);
      await db.sql`update foundation.runs set lease_expires_at = hearth_lease_now() - interval '1 second' where id = ${runId}`;
      await reapRuns(host);
      puppets.live.get(runId)?.({ type: 'run.completed', result: 'too late' });
      await vi.waitUntil(() => host.live.list().every((run) => run.runId !== runId), { interval: 1 });
      await rest();
    },
    async crash(): Promise<void> {
      for (const run of host.live.list()) run.stop('lost');
      await host.live.idle();
      await world.expire();
      await reapRuns(host);
      host = world.host();
      await rest();
    },
    async drain(): Promise<void> {
      await drainRuns(host, { graceMs: 0 });
      host = world.host();
      await rest();
    },
    async passWindows(): Promise<void> {
      await db.sql`
        update foundation.candidates set not_before = hearth_now() - interval '1 second'
         where status = 'queued' and not_before is not null and home = any(${homes})`;
      await db.sql`
        update foundation.sessions set lane_due_at = hearth_now() - interval '1 second'
         where lane_due_at is not null and home = any(${homes})`;
      await rest();
    },
    read: () => readMachine(db, homes, inputs),
    async close(): Promise<void> {
      for (const run of host.live.list()) run.stop('lost');
      await host.live.idle();
      await db.sql`
        update foundation.runs set status = 'failed', ended_at = hearth_now()
         where status in ('queued', 'running') and home = any(${homes})`;
    },
  };
}

function endingOf(ending: RefEnding, subject: string): RunEnding {
  switch (ending) {
    case 'completed':
      return { type: 'run.completed', result: null };
    case 'suspended':
      return {
        type: 'run.suspended',
        reason: 'waits',
        subscriptions: [{ type: answerType, subject }],
        resumePolicy: 'first_match',
        runtimeState: {},
      };
    default:
      return { type: `run.${ending}`, reason: 'said so' };
  }
}

/** What can be compared, of either. */
export interface Shown {
  sessions: object[];
  candidates: string[];
}

async function readMachine(db: Database, homes: readonly string[], inputs: readonly string[]): Promise<Shown[]> {
  const at = (ids: readonly { id: string }[], id: string | null) => {
    const index = ids.findIndex((each) => each.id === id);
    return index === -1 ? undefined : index;
  };
  return Promise.all(
    homes.map(async (home) => {
      const sessions = await db.sql`select * from foundation.sessions where home = ${home} order by created_at, id`;
      const runs = await db.sql`select * from foundation.runs where home = ${home} order by created_at, id`;
      const candidates = await db.sql`
        select * from foundation.candidates where home = ${home} order by position, id`;
      const runsOf = (id: string) => runs.filter(({ sessionId }) => sessionId === id);
      const inputAt = (id: string) => inputs.indexOf(id);
      return {
        sessions: sessions.map((session) => ({
          state: session.state,
          held: session.laneDueAt !== null,
          overtakes: session.laneOvertakes,
          lane: candidates
            .filter(({ sessionId, status }) => sessionId === session.id && status === 'queued')
            .map(({ inputId }) => inputAt(inputId)),
          runs: runsOf(session.id).map((run) => ({
            status: run.status,
            attempt: run.attempt,
            resumedFrom: at(runsOf(session.id) as { id: string }[], run.resumedFromRunId),
            retryOf: at(runsOf(session.id) as { id: string }[], run.retryOfRunId),
            cursor: run.inputLogCursor - (firstPosition(candidates) ?? 0),
          })),
        })),
        candidates: candidates
          .map((c) => {
            const where = at(sessions as unknown as { id: string }[], c.sessionId);
            const run = at(runsOf(c.sessionId) as unknown as { id: string }[], c.runId);
            const route = String(c.route).split(':')[0];
            return `${inputAt(c.inputId)} ${route} ${c.decision} ${c.reason} ${c.status} session ${where} run ${run}`;
          })
          .sort(),
      };
    }),
  );
}

function firstPosition(candidates: readonly Record<string, unknown>[]): number | undefined {
  const first = candidates[0]?.position;
  return typeof first === 'number' ? first : undefined;
}

export function showReference({ sessions, candidates }: RefWorld): Shown {
  const first = candidates.reduce((least, { input }) => Math.min(least, input), Number.POSITIVE_INFINITY);
  return {
    sessions: sessions.map((session) => ({
      state: session.state,
      held: session.laneHeld,
      overtakes: session.overtakes,
      lane: session.lane.map(({ input }) => input).sort((a, b) => a - b),
      runs: session.runs.map(({ status, attempt, resumedFrom, retryOf, cursor }) => {
        return { status, attempt, resumedFrom, retryOf, cursor: cursor - first };
      }),
    })),
    candidates: candidates
      .map((c) => `${c.input} ${c.route} ${c.decision} ${c.reason} ${c.status} session ${c.session} run ${c.run}`)
      .sort(),
  };
}
