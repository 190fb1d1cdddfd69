// A Foundation of its own on a real database, with real placements and the scripted runtime, driven step by step.
import {
  type AgentDefinition,
  type AgentInput,
  acceptInput,
  addStandingSubscription,
  createFoundation,
  createRuntimeRegistry,
  type DispatchingEffectAdapter,
  expireSuspensions,
  type FoundationParts,
  type Ingress,
  type InputPriority,
  type InputView,
  keepLeases,
  mintFrom,
  openLanes,
  type RunRecord,
  type RuntimeKind,
  readInput,
  readRunEvents,
  reapRuns,
  replaySuspensions,
  resolveInputs,
  startRuns,
} from '../../src/foundation/index.js';
import { homePlacements } from '../../src/home/index.js';
import { createWakeups, type Database, type Random, systemClock, systemRandom } from '../../src/platform/index.js';
import type { JsonObject } from '../../src/protocol/index.js';
import { scriptedRuntime } from '../../src/runtimes/scripted/index.js';
import { testLog } from './database.js';

export interface FoundationWorld {
  parts: FoundationParts;
  /** How often each idempotency key was dispatched to the outside. */
  dispatched: Map<string, number>;
  addAgent(agent: AddAgent): Promise<AgentDefinition>;
  send(input: Partial<AgentInput>, ingress?: Partial<Ingress>): Promise<string>;
  subscribe(
    agent: AgentDefinition,
    subscription: { type: string; subject?: string; priority?: InputPriority },
  ): Promise<void>;
  /** Another host on the same database and agents. */
  host(over?: Partial<FoundationParts>): FoundationParts;
  /** Runs the loops until nothing is left to do. */
  settle(hosts?: FoundationParts[]): Promise<void>;
  view(inputId: string): Promise<InputView>;
  decision(inputId: string): Promise<string>;
  runs(agent: AgentDefinition): Promise<RunRecord[]>;
  events(runId: string): Promise<string[]>;
  /** Lets every lease, placement and effect claim end at once, as if their hosts had been silent for long. */
  expire(): Promise<void>;
  /** As if every host had been silent for long: leases end, runs are reaped, and what is left is done. */
  recover(): Promise<void>;
}

export interface AddAgent {
  script?: JsonObject;
  tenant?: string;
  status?: AgentDefinition['status'];
  whenActive?: AgentDefinition['attention']['whenActive'];
  laneOrder?: AgentDefinition['attention']['laneOrder'];
  mergeWindowMs?: number;
  /** What else its attention makes of events. */
  attention?: Partial<AgentDefinition['attention']>;
  runtimeId?: string;
}

export const doorIngress: Ingress = {
  tenant: 'default',
  home: 'doorhome1',
  source: 'https://source.test',
  principal: 'service://alpha.test/services/source',
  trustClass: 'untrusted_content',
};

export interface OpenFoundationWorld {
  random?: Random;
  kinds?: RuntimeKind[];
}

export function openFoundationWorld(
  db: Database,
  { random = systemRandom(), kinds = [] }: OpenFoundationWorld = {},
): FoundationWorld {
  const clock = systemClock();
  const log = testLog();
  const agents = new Map<string, AgentDefinition>();
  const dispatched = new Map<string, number>();
  let count = 0;

  function host(over: Partial<FoundationParts> = {}): FoundationParts {
    const instance = `host-${systemRandom().uniform(0, 1e9).toFixed(0)}`;
    return createFoundation({
      db,
      clock,
      random,
      log,
      wakeups: createWakeups({ clock, log, instance }),
      placements: homePlacements({ clock, random }),
      holder: instance,
      authority: { authorize: () => Promise.resolve({ allowed: true, policyId: 'test.allow', reason: 'test' }) },
      adapters: { forAction: (action) => (action.startsWith('count.') ? countingAdapter(dispatched) : undefined) },
      directory: {
        byHome: (_, home) => Promise.resolve(agents.get(home)),
        byAgent: (_, tenant, agent) =>
          Promise.resolve([...agents.values()].find((a) => a.tenant === tenant && a.agent === agent)),
        byHomes: (_, homes) => Promise.resolve(homes.flatMap((home) => agents.get(home) ?? [])),
        byAgents: (_, tenant, names) =>
          Promise.resolve([...agents.values()].filter((a) => a.tenant === tenant && names.includes(a.agent))),
      },
      runtimes: createRuntimeRegistry([scriptedRuntime(), ...kinds]),
      ...over,
    });
  }

  const parts = host();
  const world: FoundationWorld = {
    parts,
    dispatched,
    host,
    addAgent(agent) {
      count += 1;
      const home = `home${systemRandom().uniform(1e9, 9e9).toFixed(0)}`;
      const definition: AgentDefinition = {
        home,
        agent: `agent://alpha.test/agents/a${count}-${home}`,
        tenant: agent.tenant ?? 'default',
        status: agent.status ?? 'active',
        runtime: { id: agent.runtimeId ?? 'scripted', config: agent.script ?? { rules: [] } },
        attention: {
          whenActive: agent.whenActive ?? 'enqueue',
          laneOrder: agent.laneOrder ?? 'arrival',
          mergeWindowMs: agent.mergeWindowMs ?? 0,
          ...agent.attention,
        },
        grants: [{ action: 'count.*', target: '*' }],
      };
      agents.set(home, definition);
      return Promise.resolve(definition);
    },
    async send(input, ingress = {}) {
      count += 1;
      const full: AgentInput = {
        kind: 'command',
        type: 'test.work',
        source_event_id: `event-${count}-${systemRandom().uniform(0, 1e9)}`,
        ...input,
      };
      const accepted = await db.transact('accept', (tx) =>
        acceptInput(tx, { ingress: { ...doorIngress, ...ingress }, input: full, ids: mintFrom(parts) }),
      );
      return accepted.inputId;
    },
    async subscribe({ home, tenant }, subscription) {
      await db.transact('subscribe', (tx) =>
        addStandingSubscription(tx, { home, tenant, ids: mintFrom(parts), ...subscription }),
      );
    },
    settle: (hosts = [parts]) => settle(db, hosts),
    async view(inputId) {
      const view = await readInput(db.sql, inputId, { caller: { tenant: 'default', homes: 'all' } });
      if (!view) throw new Error(`no input ${inputId}`);
      return view;
    },
    async decision(inputId) {
      return (await world.view(inputId)).dispositions
        .map(({ decision, reason }) => `${decision} ${reason}`)
        .sort()
        .join(', ');
    },
    async runs({ home }) {
      return db.sql<RunRecord[]>`select * from foundation.runs where home = ${home} order by created_at, id`;
    },
    async events(runId) {
      const page = await readRunEvents(db.sql, runId, { after: 0, limit: 1000 });
      return page.kind === 'page' ? page.events.map(({ type }) => type) : [];
    },
    async expire() {
      await db.sql`update foundation.runs set lease_expires_at = hearth_lease_now() - interval '1 second' where status = 'running'`;
      await db.sql`update foundation.effects set claimed_until = hearth_lease_now() where status = 'dispatching'`;
      await db.sql`update home.placements set expires_at = hearth_lease_now() - interval '1 second'`;
    },
    async recover() {
      await world.expire();
      await reapRuns(parts);
      await world.settle();
    },
  };
  return world;
}

async function settle(db: Database, hosts: FoundationParts[]): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    for (const parts of hosts) {
      await resolveInputs(parts);
      await replaySuspensions(parts);
      await expireSuspensions(parts);
      await openLanes(parts);
      await startRuns(parts);
    }
    await Promise.all(hosts.map((parts) => parts.live.idle()));
    const [left] = await db.sql<{ count: number }[]>`
      select (select count(*) from foundation.inputs where position is null)
           + (select count(*) from foundation.input_log_heads where resolved_position < position)
           + (select count(*) from foundation.suspensions where status = 'open' and replayed_at is null)
           + (select count(*) from foundation.runs where status = 'queued') as count`;
    if (left?.count === 0) return;
  }
  throw new Error('the Foundation did not come to rest');
}

/** One round of the loops that look after what others left. */
export async function recover(parts: FoundationParts): Promise<void> {
  await keepLeases(parts);
  await reapRuns(parts);
}

function countingAdapter(dispatched: Map<string, number>): DispatchingEffectAdapter {
  return {
    kind: 'dispatching',
    timeoutMs: 1_000,
    check: () => ({ ok: true }),
    dispatch({ idempotencyKey, request }) {
      dispatched.set(idempotencyKey, (dispatched.get(idempotencyKey) ?? 0) + 1);
      return Promise.resolve({ status: 'succeeded', result: { echoed: request } });
    },
    query: ({ idempotencyKey }) =>
      Promise.resolve(dispatched.has(idempotencyKey) ? { status: 'succeeded', result: null } : { status: 'not_found' }),
  };
}

/** What a killed process says to whoever still waits for it inside this one. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** A database as a process sees it that is killed at its nth transaction, right before or right after the commit. */
export function killedAt(db: Database, at: { transaction: number; moment: 'before' | 'after' }): Database {
  let count = 0;
  return {
    ...db,
    async transact(name, work) {
      count += 1;
      const last = count === at.transaction;
      if (count > at.transaction) throw new Killed(name);
      const result = await db.transact(name, async (tx) => {
        const worked = await work(tx);
        if (last && at.moment === 'before') throw new Killed(name);
        return worked;
      });
      if (last) throw new Killed(name);
      return result;
    },
  };
}
