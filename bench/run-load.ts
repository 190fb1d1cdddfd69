// What a domain's agents are given to do: inputs one after another, at a pace, as many as they can take, beside many that wait.
import { setTimeout as pause } from 'node:timers/promises';
import type { Gateway } from '../src/federation/index.js';
import type { AgentInput } from '../src/foundation/index.js';
import { createAgent, type Principal } from '../src/home/index.js';
import type { InputDoor } from '../src/http/accept-at-door.js';

export interface RunLoad {
  gateway: Gateway;
  door: InputDoor;
  owner: Principal;
  /** Calls after each commit that ends runs; answers how to stop that. */
  onSettled(look: () => void): () => void;
}

const script = {
  rules: [
    {
      when: { type: 'bench.ask' },
      steps: [
        {
          suspend: { reason: 'asked', until: [{ type: 'bench.answer', subject: '{{/activation/subject/resource}}' }] },
        },
        { complete: 'answered' },
      ],
    },
    { when: { type: 'bench.do' }, steps: [{ complete: 'done' }] },
  ],
};

let named = 0;
let inputs = 0;

async function addAgent({ gateway, owner }: RunLoad) {
  named += 1;
  const runtime = { id: 'scripted', config: script };
  const made = await createAgent(gateway, {
    name: `agent-${named}`,
    owner: owner.address,
    runtime,
    actor: 'system:bench',
  });
  if (!made.ok) throw new Error(made.detail);
  return made.principal;
}

async function send({ door, owner }: RunLoad, input: Omit<AgentInput, 'source_event_id'>): Promise<string> {
  inputs += 1;
  const { inputId } = await door.accept({
    ingress: {
      ...owner,
      source: owner.address,
      principal: owner.address,
      trustClass: 'instruction',
      relationship: 'own',
    },
    input: { ...input, source_event_id: `bench-${inputs}` },
    body: new Uint8Array(),
    contentType: 'application/json',
    facts: {},
  });
  return inputId;
}

/** One after another: an input activates a run that suspends, a second one wakes it. Times are the database's. */
export async function wakes(load: RunLoad, { count }: { count: number }) {
  const agent = await addAgent(load);
  const asked: string[] = [];
  const answered: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const subject = { resource: `${agent.home}/${index}` };
    const target = { agent: agent.address };
    asked.push(await handled(load, { kind: 'command', type: 'bench.ask', subject, target }));
    answered.push(await handled(load, { kind: 'event', type: 'bench.answer', subject }));
  }
  return { activatedMs: await waitsOf(load, asked), wokenMs: await waitsOf(load, answered) };
}

/** Sends an input and waits for the end of the run that it leads to. */
async function handled(load: RunLoad, input: Omit<AgentInput, 'source_event_id'>): Promise<string> {
  const ends = watchEnds(load);
  try {
    const inputId = await send(load, input);
    await ends.of(inputId);
    return inputId;
  } finally {
    ends.stop();
  }
}

/** From the acceptance of each input to the first event of its run, in milliseconds. */
async function waitsOf({ gateway, owner }: RunLoad, inputIds: readonly string[]): Promise<number[]> {
  const rows = await gateway.db.sql<{ tookMs: number }[]>`
    select (extract(epoch from e.at - i.received_at) * 1000)::double precision as took_ms
      from foundation.inputs i
      join foundation.candidates c on c.input_id = i.id
      join foundation.run_events e on e.home = c.home and e.run_id = c.run_id and e.seq = 1
     where i.home = ${owner.home}
       and i.id = any(${[...inputIds]}::text[])`;
  return rows.map(({ tookMs }) => tookMs);
}

/** Tells when the runs of inputs have ended; one look at the database for all that wait. */
function watchEnds({ gateway, onSettled }: RunLoad) {
  const waiting = new Map<string, () => void>();
  let looking = false;
  let again = false;
  async function look(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    while (again) {
      again = false;
      const rows = await gateway.db.sql<{ inputId: string }[]>`
        select input_id
          from foundation.candidates
         where input_id = any(${[...waiting.keys()]}::text[])
           and status in ('consumed', 'failed')`;
      for (const { inputId } of rows) {
        waiting.get(inputId)?.();
        waiting.delete(inputId);
      }
    }
    looking = false;
  }
  const stop = onSettled(() => void look());
  return {
    stop,
    of(inputId: string): Promise<void> {
      return new Promise((resolve) => {
        waiting.set(inputId, resolve);
        // It may have ended before this line.
        void look();
      });
    },
  };
}

/** Each worker waits for the end of its run before it asks for the next. */
export async function activations(load: RunLoad, { workers, count }: { workers: number; count: number }) {
  const agents = await Promise.all(Array.from({ length: 16 }, () => addAgent(load)));
  const ends = watchEnds(load);
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  let left = count;
  async function work(index: number): Promise<void> {
    const agent = agents[index % agents.length];
    while (left > 0) {
      left -= 1;
      const beganMs = performance.now();
      const target = { agent: agent?.address ?? '' };
      await ends.of(await send(load, { kind: 'command', type: 'bench.do', target }));
      latenciesMs.push(performance.now() - beganMs);
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
  ends.stop();
  return { latenciesMs, tookMs: performance.now() - startMs };
}

/** Inputs at a steady pace, whatever becomes of them. */
export async function paced(load: RunLoad, { perS, count }: { perS: number; count: number }) {
  const agents = await Promise.all(Array.from({ length: 16 }, () => addAgent(load)));
  const ends = watchEnds(load);
  const startMs = performance.now();
  const ended: Promise<string>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueMs = startMs + (index * 1_000) / perS;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    const target = { agent: agents[index % agents.length]?.address ?? '' };
    ended.push(
      send(load, { kind: 'command', type: 'bench.do', target }).then(async (inputId) => {
        await ends.of(inputId);
        return inputId;
      }),
    );
  }
  const ids = await Promise.all(ended);
  ends.stop();
  return { activatedMs: await waitsOf(load, ids), tookMs: performance.now() - startMs };
}

/** So many sessions of one agent that wait, each for a subject of its own, as their suspended runs left them. */
export async function letWait(load: RunLoad, { count }: { count: number }): Promise<void> {
  const { gateway } = load;
  const agent = await addAgent(load);
  const { home, tenant, address } = agent;
  await gateway.db.transact(
    'bench.let-wait',
    async (tx) => {
      await tx`
      insert into foundation.sessions (home, id, tenant, agent, state, runtime_id, runtime_version)
      select ${home}, 'ses_waits_' || n, ${tenant}, ${address}, 'suspended', 'scripted', '1'
        from generate_series(1, ${count}::int) n`;
      await tx`
      insert into foundation.suspensions (home, id, tenant, session_id, run_id, reason, runtime_id, runtime_version,
             runtime_state_ref, input_log_cursor, resume_policy, status, replayed_at)
      select ${home}, 'sus_waits_' || n, ${tenant}, 'ses_waits_' || n, 'run_waits_' || n, 'asked', 'scripted', '1',
             'sus_waits_' || n, 0, 'first_match', 'open', hearth_now()
        from generate_series(1, ${count}::int) n`;
      await tx`
      insert into foundation.subscriptions (home, id, tenant, owner, suspension_id, session_id, type, subject, status)
      select ${home}, 'sub_waits_' || n, ${tenant}, 'suspension', 'sus_waits_' || n, 'ses_waits_' || n,
             'bench.answer', 'waits/' || n, 'active'
        from generate_series(1, ${count}::int) n`;
    },
    { timeoutMs: 120_000 },
  );
  await gateway.db.sql`analyze foundation.subscriptions, foundation.suspensions, foundation.sessions`;
}
