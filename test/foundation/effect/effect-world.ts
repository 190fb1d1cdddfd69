// One agent with a session, runs and a real placement on a real database, and a gateway that can be made to crash.
import { createHttpEffectAdapter } from '../../../src/adapters/http-effect/index.js';
import type {
  ActionProposal,
  Authority,
  EffectAdapter,
  EffectGateway,
  EffectRecord,
  Fence,
} from '../../../src/foundation/index.js';
import { homePlacements } from '../../../src/home/placement/index.js';
import {
  type Clock,
  createPeerHttp,
  createWakeups,
  type Database,
  systemClock,
  systemRandom,
  type Tx,
} from '../../../src/platform/index.js';
import type { CountingServer } from '../../support/counting-server.js';
import { testLog } from '../../support/database.js';

/** The end of the process, as far as the code under test can tell. */
export class Crash extends Error {}

/** `before:effect-claim`, `after:effect-claim` (committed, the answer lost), `before:send`, `after:send`. */
export type CrashPoint = `${'before' | 'after'}:${string}`;

export interface EffectWorld {
  gateway: EffectGateway;
  home: string;
  run: ProposingRunRow;
  grant(): void;
  /** From here on the authority denies everything. */
  revoke(): void;
  adapters: Map<string, EffectAdapter>;
  /** Ends the process at a point: from there on nothing reaches the database or the target until `replaceRun`. */
  crashAt(point: CrashPoint): void;
  /** Runs something once, at a point. */
  at(point: CrashPoint, hook: () => Promise<void>): void;
  propose(over?: Partial<ActionProposal>, run?: ProposingRunRow): ActionProposal;
  /** The host is gone: its run failed, its placement lapsed, another host holds the agent and runs a retry. */
  replaceRun(): Promise<ProposingRunRow>;
  endRun(): Promise<void>;
  /** As if the claim of every dispatch had run out. */
  lapseClaims(): Promise<void>;
  effects(): Promise<EffectRecord[]>;
  events(runId?: string): Promise<{ type: string; data: Record<string, unknown> }[]>;
  audits(action: string): Promise<{ outcome: string; details: Record<string, unknown> }[]>;
  close(): Promise<void>;
}

interface ProposingRunRow {
  runId: string;
  sessionId: string;
  fence: Fence;
  activationInputId: string;
}

const letters = 'abcdefghijklmnopqrstuvwxyz';
let worlds = 0;

export async function openEffectWorld(database: Database, server: CountingServer): Promise<EffectWorld> {
  worlds += 1;
  const clock = systemClock();
  const random = systemRandom();
  const home = `${letters[worlds % 26]}${process.pid}w${worlds}`.toLowerCase();
  const points = new Map<string, () => Promise<void>>();
  const pass = async (point: string): Promise<void> => {
    const hook = points.get(point);
    points.delete(point);
    await hook?.();
  };
  const host = { dead: false };
  const alive = (): void => {
    if (host.dead) throw new Crash('this process is dead');
  };
  const db = crashing(database, pass, alive);
  const wakeups = createWakeups({ clock, log: testLog(), instance: home });
  const http = createPeerHttp({ resolve: new Map(), clock, allowOrigins: [server.origin] });
  const adapters = new Map<string, EffectAdapter>([
    [
      'http.post',
      crashingAdapter(createHttpEffectAdapter({ http, origins: [server.origin], timeoutMs: 2_000 }), pass, alive),
    ],
  ]);
  let allowed = true;
  const authority: Authority = {
    authorize: async () => ({
      allowed,
      policyId: 'test.policy',
      reason: allowed ? 'granted' : 'revoked',
    }),
  };
  const placements = homePlacements({ clock, random });
  const gateway: EffectGateway = {
    db,
    placements,
    authority,
    adapters: { forAction: (action) => adapters.get(action) },
    clock: fastClock(clock),
    random,
    wakeups,
    log: testLog(),
  };
  const sessionId = `ses_${home}_1`;
  let runs = 0;
  async function startRun(): Promise<ProposingRunRow> {
    runs += 1;
    return database.transact('test-run', async (tx) => {
      const [fence] = await placements.claim(tx, `host-${runs}`, [home]);
      if (!fence) throw new Error('the placement is held by another host');
      await tx`update home.placements set expires_at = hearth_lease_now() + interval '1 hour' where home = ${home}`;
      // An id as the protocol forms it, so that the home can be read from it.
      const runId = `run_${home}_${String(runs).padStart(26, '0')}`;
      await insertRunningRun(tx, { home, runId, sessionId, fence });
      return { runId, sessionId, fence, activationInputId: `in_${home}_1` };
    });
  }
  const world: EffectWorld = {
    gateway,
    home,
    run: await startRun(),
    grant: () => {
      allowed = true;
    },
    revoke: () => {
      allowed = false;
    },
    adapters,
    crashAt: (point) =>
      void points.set(point, async () => {
        host.dead = true;
        throw new Crash(point);
      }),
    at: (point, hook) => void points.set(point, hook),
    propose: (over = {}, run = world.run) => ({
      proposalScope: sessionId,
      proposalId: 'step-1',
      actor: { home, agent: 'agent://alpha.test/scout' },
      tenant: 'default',
      action: 'http.post',
      target: server.url,
      input: { order: 1 },
      run,
      ...over,
    }),
    async replaceRun() {
      host.dead = false;
      points.clear();
      await world.endRun();
      await database.transact(
        'test',
        (tx) => tx`update home.placements set expires_at = hearth_lease_now() where home = ${home}`,
      );
      world.run = await startRun();
      return world.run;
    },
    async endRun() {
      await database.transact(
        'test',
        (tx) => tx`
        update foundation.runs set status = 'failed', ended_at = hearth_now() where home = ${home} and status = 'running'`,
      );
    },
    async lapseClaims() {
      await database.transact(
        'test',
        (tx) => tx`
        update foundation.effects set claimed_until = hearth_lease_now() - interval '1 second'
         where home = ${home} and claimed_until is not null`,
      );
    },
    async effects() {
      return [...(await database.sql<EffectRecord[]>`select * from foundation.effects where home = ${home}`)];
    },
    async events(runId = world.run.runId) {
      return database.sql`
        select type, data from foundation.run_events where home = ${home} and run_id = ${runId} order by seq`;
    },
    async audits(action) {
      return database.sql`
        select outcome, details from foundation.audit_entries where home = ${home} and action = ${action} order by at`;
    },
    async close() {
      await wakeups.close();
      await http.close();
    },
  };
  return world;
}

async function insertRunningRun(
  tx: Tx,
  run: { home: string; runId: string; sessionId: string; fence: Fence },
): Promise<void> {
  await tx`
    insert into foundation.runs (
      home, id, tenant, session_id, status, activation_candidate_id, runtime_id, runtime_version, input_log_cursor,
      holder, placement_lease_id, placement_epoch, lease_expires_at, started_at
    ) values (
      ${run.home}, ${run.runId}, 'default', ${run.sessionId}, 'running', 'cand', 'scripted', '1', 0,
      'host', ${run.fence.placementLeaseId}, ${run.fence.placementEpoch}, hearth_now() + interval '1 hour', hearth_now()
    )`;
}

/** Pauses between questions are shortened; time limits and everything else stay as they are. */
function fastClock(clock: Clock): Clock {
  return { ...clock, sleep: (ms, signal) => clock.sleep(Math.min(ms, 10), signal) };
}

function crashing(database: Database, pass: (point: string) => Promise<void>, alive: () => void): Database {
  return {
    ...database,
    get sql() {
      alive();
      return database.sql;
    },
    async transact(name, work) {
      alive();
      await pass(`before:${name}`);
      const result = await database.transact(name, work);
      await pass(`after:${name}`);
      return result;
    },
  };
}

function crashingAdapter(
  adapter: EffectAdapter,
  pass: (point: string) => Promise<void>,
  alive: () => void,
): EffectAdapter {
  if (adapter.kind !== 'dispatching') return adapter;
  return {
    ...adapter,
    async dispatch(effect, signal) {
      alive();
      await pass('before:send');
      const outcome = await adapter.dispatch(effect, signal);
      await pass('after:send');
      return outcome;
    },
  };
}
