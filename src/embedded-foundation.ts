/**
 * `hearth/foundation`: agents in a program of one's own, with everything that the Foundation promises (durable inputs,
 * sessions, runs, effects, waits) and nothing else: no addresses, no peers, no doors. Several processes may open the same
 * database; they share the work.
 */
import { resolve } from 'node:path';
import { openDomainDatabase } from './domain-database.js';
import {
  acceptInput,
  addStandingSubscription,
  createFoundation,
  createRuntimeRegistry,
  type Disposition,
  type EffectAdapters,
  type EmbeddedAgent,
  embeddedAuthority,
  embeddedDirectory,
  embeddedHome,
  embeddedPlacements,
  embeddedTenant,
  type FoundationParts,
  foundationChannels,
  type InputView,
  mintFrom,
  parseAgentInput,
  type RuntimeKind,
  type RunView,
  readDispositions,
  readInput,
  readRun,
} from './foundation/index.js';
import { createLog, createWakeups, systemClock, systemRandom } from './platform/index.js';
import { type JsonValue, toBase64url } from './protocol/index.js';
import { startFoundationLoops } from './workers/foundation/index.js';

export {
  type Activation,
  type EffectAdapters,
  type EmbeddedAgent,
  type FoundationParts,
  functionRuntime,
  type InputView,
  type RuntimeKind,
  type RunView,
} from './foundation/index.js';

export interface OpenFoundation {
  /** A PostgreSQL URL, or the directory of a PostgreSQL of its own that is started and stopped with it. */
  database: string | { directory: string };
  agents: readonly EmbeddedAgent[];
  runtimes: readonly RuntimeKind[];
  /** What proposals can do in the world; without it every proposal is refused. */
  effects?: EffectAdapters;
  logLevel?: 'silent' | 'warn' | 'info' | 'debug';
}

export interface Send {
  /** The agent that is told, by name; without it those that subscribed to the type. */
  to?: string;
  type: string;
  data?: JsonValue;
  /** The same event id again is the same input. */
  eventId?: string;
  /** Inputs of one subject, or of one correlation id, come into one session, one after another. */
  subject?: string;
  correlationId?: string;
}

export interface Outcome {
  input: InputView;
  /** The runs that took it, each ended. */
  runs: RunView[];
}

export interface EmbeddedFoundation {
  /** For whoever needs more: the parts that the functions of the Foundation take. */
  parts: FoundationParts;
  /** Resolves with the input's id once it is durable. */
  send(send: Send): Promise<string>;
  /** Waits until every run that the input began has ended. */
  outcome(inputId: string, options?: { timeoutMs?: number }): Promise<Outcome>;
  /** Lets runs end or gives them back, then closes the database. */
  close(): Promise<void>;
}

/** The mailbox that an embedder's own inputs come through. */
const door = { home: 'embedder', source: 'embedder', principal: 'embedder' } as const;
const caller = { tenant: embeddedTenant, homes: 'all' } as const;
const graceMs = 5_000;
const lookMs = 100;
const dispositionsPage = 1_000;

export async function openFoundation(options: OpenFoundation): Promise<EmbeddedFoundation> {
  const { database, agents } = options;
  const [clock, random, log] = [systemClock(), systemRandom(), createLog({ level: options.logLevel ?? 'warn' })];
  const config =
    typeof database === 'string'
      ? { databaseUrl: database, dataDirectory: '' }
      : { databaseUrl: undefined, dataDirectory: resolve(database.directory) };
  const named = { ...config, domain: 'embedded', clockOffsetMs: 0 };
  const store = await openDomainDatabase({ config: named, clock, log });
  const db = store.database;
  const holder = `host_${toBase64url(random.bytes(12))}`;
  const wakeups = createWakeups({ clock, database: db, instance: holder, log });
  const directory = embeddedDirectory(agents);
  const parts = createFoundation({
    ...{ db, clock, random, log, wakeups, holder, directory },
    placements: embeddedPlacements({ clock, random }),
    authority: embeddedAuthority(directory),
    adapters: options.effects ?? { forAction: () => undefined },
    runtimes: createRuntimeRegistry(options.runtimes),
  });
  for (const agent of agents) await subscribe(parts, agent);
  const loops = startFoundationLoops(parts);
  return {
    parts,
    send: (send) => accept(parts, send),
    outcome: (inputId, { timeoutMs = 60_000 } = {}) => outcomeOf(parts, inputId, timeoutMs),
    async close() {
      await loops.stop({ graceMs });
      await wakeups.close();
      await store.close();
    },
  };
}

/** The same subscription twice is one, so each start may say it again. */
async function subscribe(parts: FoundationParts, { name, subscriptions = [] }: EmbeddedAgent): Promise<void> {
  if (subscriptions.length === 0) return;
  const whose = { home: embeddedHome(name), tenant: embeddedTenant, ids: mintFrom(parts) };
  await parts.db.transact('subscribe embedded agent', async (tx) => {
    for (const type of subscriptions) await addStandingSubscription(tx, { ...whose, type });
  });
}

async function accept(parts: FoundationParts, send: Send): Promise<string> {
  const { to, type, data, eventId, subject, correlationId } = send;
  const given = {
    kind: to === undefined ? 'event' : 'command',
    type,
    source_event_id: eventId ?? toBase64url(parts.random.bytes(15)),
    target: to === undefined ? undefined : { agent: to },
    subject: subject === undefined ? undefined : { resource: subject },
    correlation_id: correlationId,
    data,
  };
  // Absent members stay absent.
  const input = parseAgentInput(JSON.parse(JSON.stringify(given)));
  const ingress = { ...door, tenant: embeddedTenant, trustClass: 'instruction', relationship: 'own' } as const;
  const { inputId } = await parts.db.transact('accept input', (tx) =>
    acceptInput(tx, { ingress, input, ids: mintFrom(parts) }),
  );
  parts.wakeups.wake(foundationChannels.inputs);
  return inputId;
}

async function outcomeOf(parts: FoundationParts, inputId: string, timeoutMs: number): Promise<Outcome> {
  const until = parts.clock.monotonicMs() + timeoutMs;
  while (parts.clock.monotonicMs() < until) {
    const input = await readInput(parts.db.sql, inputId, { caller });
    if (!input) throw new Error(`there is no input ${inputId}`);
    const decided = input.more ? await allDispositions(parts, inputId) : input.dispositions;
    if (decided.length > 0 && decided.every(({ status }) => !isOpen(status))) {
      const ids = [...new Set(decided.flatMap(({ runId }) => runId ?? []))];
      const runs = await Promise.all(ids.map((id) => readRun(parts.db.sql, id, { caller })));
      return { input, runs: runs.flatMap((run) => run ?? []) };
    }
    await parts.wakeups.wait(foundationChannels.runs, lookMs);
  }
  throw new Error(`input ${inputId} has no outcome after ${timeoutMs} ms`);
}

/** As many as an input may concern. */
async function allDispositions({ db }: FoundationParts, inputId: string): Promise<Disposition[]> {
  const found: Disposition[] = [];
  for (;;) {
    const after = found.at(-1)?.candidateId;
    const page = (await readDispositions(db.sql, inputId, { caller, after, limit: dispositionsPage })) ?? [];
    found.push(...page);
    if (page.length < dispositionsPage) return found;
  }
}

function isOpen(status: InputView['dispositions'][number]['status']): boolean {
  return status === 'queued' || status === 'running';
}
