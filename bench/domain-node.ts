// One whole domain as a measured process: real doors, real loops, its own PostgreSQL. Its parent tells it what to send.
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '../src/config.js';
import { type RunningDomain, startDomain } from '../src/domain.js';
import { pinPeer } from '../src/federation/index.js';
import { isRefusal, performEffect } from '../src/foundation/index.js';
import { createPrincipal, type Principal } from '../src/home/index.js';
import { type InputDoor, openInputDoor } from '../src/http/accept-at-door.js';
import { createLog, systemClock, systemRandom } from '../src/platform/index.js';
import { parseDomain } from '../src/protocol/index.js';
import { openBenchDatabase } from './bench-database.js';
import { serve } from './node-process.js';
import { activations, letWait, paced, type RunLoad, wakes } from './run-load.js';

interface Settled {
  /** Called after each commit that ends deliveries. */
  onSettled: () => void;
  /** Milliseconds from request to answer, of each transaction sent. */
  exchangesMs: number[];
}

const settled: Settled = { onSettled: () => undefined, exchangesMs: [] };
const people: Principal[] = [];
let door: InputDoor | undefined;
const runsSettled = new Set<() => void>();
let running: RunningDomain | undefined;

function onSettled(look: () => void): () => void {
  runsSettled.add(look);
  return () => runsSettled.delete(look);
}

function domain(): RunningDomain {
  if (!running) throw new Error('not started');
  return running;
}

interface Start {
  domain: string;
  dataDirectory: string;
  federationPort: number;
  resolve: string;
}

async function start({ domain: name, dataDirectory, federationPort, resolve }: Start) {
  const clock = systemClock();
  const opened = await openBenchDatabase(dataDirectory, clock);
  running = await startDomain({
    config: loadConfig({
      HEARTH_DOMAIN: name,
      HEARTH_DATA_DIRECTORY: dataDirectory,
      HEARTH_FEDERATION_PORT: `${federationPort}`,
      HEARTH_API_PORT: '0',
      HEARTH_RESOLVE: resolve,
      HEARTH_LOG_LEVEL: 'error',
    }),
    clock,
    random: systemRandom(),
    log: createLog({ level: 'error' }),
    store: { database: opened.database, where: 'a bench database', postmasterPid: opened.pid, close: opened.close },
    interpose: (ports) => ({
      ...ports,
      database: {
        ...ports.database,
        async transact(transaction, work, options) {
          const value = await ports.database.transact(transaction, work, options);
          if (transaction === 'outbox.settle') settled.onSettled();
          if (transaction.startsWith('settle-run')) for (const look of runsSettled) look();
          return value;
        },
      },
      peerHttp: {
        ...ports.peerHttp,
        async request(request) {
          const startMs = performance.now();
          const response = await ports.peerHttp.request(request);
          if (request.method === 'PUT') settled.exchangesMs.push(performance.now() - startMs);
          return response;
        },
      },
    }),
  });
  return { fingerprint: running.fingerprint };
}

async function addPeople({ count }: { count: number }): Promise<string[]> {
  const { gateway } = domain().layers;
  for (let index = 0; index < count; index += 1) {
    const made = await createPrincipal(gateway, { kind: 'human', name: `person-${index}`, actor: 'system:bench' });
    if (!made.ok) throw new Error(made.detail);
    people.push(made.principal);
  }
  return people.map(({ address }) => address);
}

async function pin({ domain: name, fingerprint }: { domain: string; fingerprint: string }): Promise<void> {
  const peer = parseDomain(name);
  if (!peer) throw new Error(`not a domain: ${name}`);
  const pinned = await pinPeer(domain().layers.gateway.peers, { domain: peer, fingerprint, actor: 'system:bench' });
  if (!pinned.look.ok) throw new Error(pinned.look.detail);
}

interface Talk {
  peer: string;
  /** Addresses there; each worker writes to one of them, in a conversation of its own. */
  to: string[];
  workers: number;
  count: number;
  text: string;
}

let talks = 0;

/** `workers` people say things one after another; `said` is waited for before the next. */
async function talk(
  { to, workers, count, text }: Talk,
  said: (messageId: string, startMs: number) => Promise<void>,
): Promise<void> {
  talks += 1;
  const round = talks;
  let left = count;
  async function work(index: number): Promise<void> {
    let conversation: string | undefined;
    while (left > 0) {
      left -= 1;
      const from = people[index % people.length];
      const target = to[index % to.length];
      if (!from || target === undefined) throw new Error('nobody to talk');
      const startMs = performance.now();
      const result = await performEffect(domain().layers.foundation, {
        proposalScope: `principal:${from.home}`,
        proposalId: `bench-${round}-${index}-${left}`,
        actor: { home: from.home, agent: from.address },
        tenant: from.tenant,
        action: 'interaction.message',
        target,
        input: { text, ...(conversation === undefined ? {} : { conversation_id: conversation }) },
      });
      if (isRefusal(result) || result.status !== 'succeeded') throw new Error(`not sent: ${JSON.stringify(result)}`);
      const { message_id, conversation_id } = result.result as { message_id: string; conversation_id: string };
      conversation = conversation_id;
      await said(message_id, startMs);
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
}

/** Fills the outbox while the peer is not tried. */
async function queue(given: Talk): Promise<void> {
  while (!(await hold(given.peer))) await pause(5);
  await talk(given, async () => undefined);
}

/** False while a delivery is under way: its end would let the next one go. */
async function hold(peer: string): Promise<boolean> {
  const rows = await domain().layers.gateway.db.sql`
    update federation.peer_deliveries
       set next_attempt_at = hearth_now() + interval '1 day'
     where peer = ${peer}
       and claim is null
    returning 1`;
  return rows.length === 1;
}

/** Lets deliveries go; resolves when the outbox is empty. */
async function drain({ peer }: { peer: string }): Promise<{ exchangesMs: number[] }> {
  const { db, wakeups } = domain().layers.gateway;
  settled.exchangesMs = [];
  await db.sql`update federation.peer_deliveries set next_attempt_at = hearth_now() where peer = ${peer}`;
  for (;;) {
    const next = nextSettled();
    wakeups.wake('outbox');
    const [row] = await db.sql<{ open: boolean }[]>`
      select exists (select from federation.outbox_items where peer = ${peer} and status = 'queued') as open`;
    if (!row?.open) break;
    await next;
  }
  settled.onSettled = () => undefined;
  return { exchangesMs: settled.exchangesMs };
}

function nextSettled(): Promise<void> {
  return new Promise((resolve) => {
    settled.onSettled = resolve;
  });
}

/** Each worker waits until its message is delivered and its receipt stored before it says the next. */
async function singles(given: Talk): Promise<{ latenciesMs: number[] }> {
  const { db } = domain().layers.gateway;
  const waiting = new Map<string, () => void>();
  const latenciesMs: number[] = [];
  let looking = false;
  let again = false;
  async function look(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    while (again) {
      again = false;
      const rows = await db.sql<{ messageId: string }[]>`
        select message_id
          from federation.outbox_items
         where peer = ${given.peer}
           and message_id = any(${[...waiting.keys()]}::text[])
           and status = 'delivered'`;
      for (const { messageId } of rows) {
        waiting.get(messageId)?.();
        waiting.delete(messageId);
      }
    }
    looking = false;
  }
  settled.onSettled = () => void look();
  await talk(given, async (messageId, startMs) => {
    await new Promise<void>((resolve) => {
      waiting.set(messageId, resolve);
      // It may have been settled between its commit and this line.
      void look();
    });
    latenciesMs.push(performance.now() - startMs);
  });
  settled.onSettled = () => undefined;
  return { latenciesMs };
}

/** One owner for all agents that are measured. */
function load(): RunLoad {
  const [owner] = people;
  if (!owner) throw new Error('nobody owns the agents');
  const { gateway } = domain().layers;
  door ??= openInputDoor(gateway);
  return { gateway, door, owner, onSettled };
}

serve({
  start,
  addPeople,
  pin,
  queue,
  drain,
  singles,
  wakes: (given: { count: number }) => wakes(load(), given),
  activations: (given: { workers: number; count: number }) => activations(load(), given),
  paced: (given: { perS: number; count: number }) => paced(load(), given),
  letWait: (given: { count: number }) => letWait(load(), given),
  async stop() {
    await pause(0);
    await running?.stop();
  },
});
