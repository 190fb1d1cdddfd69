// A world whose agents wait as told, and then say everything that their continuation was shown.
import type { AgentDefinition } from '../../../src/foundation/index.js';
import type { Database } from '../../../src/platform/index.js';
import type { JsonObject } from '../../../src/protocol/index.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

export function waiter(suspend: JsonObject): JsonObject {
  return {
    rules: [
      {
        when: { type: 'wait.begin' },
        steps: [
          { suspend: { reason: 'waits', ...suspend } },
          { complete: { by: { $ref: '/activation/type' }, inputs: { $ref: '/inputs' } } },
        ],
      },
      { when: { type: 'wait.*' }, steps: [{ complete: 'work of its own' }] },
    ],
  };
}

export interface WaitingWorld {
  world: FoundationWorld;
  waiting(suspend: JsonObject): Promise<AgentDefinition>;
  say(type: string, over?: JsonObject): Promise<string>;
  /** Of every continuation, by what it was resumed and which inputs it saw. */
  shown(agent: AgentDefinition): Promise<{ status: string; by: string; inputs: string[] }[]>;
  control(verb: 'resume' | 'cancel' | 'fork', agent: AgentDefinition, type?: string): Promise<string>;
  /** Lets the time of every open wait of an agent be over. */
  letExpire(agent: AgentDefinition): Promise<void>;
}

export function openWaitingWorld(db: Database): WaitingWorld {
  const world = openFoundationWorld(db);
  return {
    world,
    async waiting(suspend) {
      const agent = await world.addAgent({ script: waiter(suspend) });
      await world.send({ type: 'wait.begin', target: { agent: agent.agent } });
      await world.settle();
      return agent;
    },
    say: (type, over = {}) => world.send({ kind: 'event', type, ...over }),
    async shown(agent) {
      const runs = await world.runs(agent);
      return runs
        .filter(({ resumedFromRunId }) => resumedFromRunId !== null)
        .map(({ status, result }) => {
          const { by, inputs } = result as { by: string; inputs: { type: string; data?: unknown }[] };
          const said = inputs.map(({ type, data }) => (data === null ? type : `${type} ${JSON.stringify(data)}`));
          return { status, by, inputs: said };
        });
    },
    async control(verb, agent, type = 'run.control') {
      const [run] = await world.runs(agent);
      const authority = { control: { verb, authority: 'human://alpha.test/users/u' } };
      return world.send({ kind: 'control', type, target: { session: run?.sessionId ?? '' } }, authority);
    },
    async letExpire({ home }) {
      await db.sql`
        update foundation.suspensions
           set due_at = hearth_now() - interval '1 second', expires_at = hearth_now() - interval '1 second'
         where home = ${home} and status = 'open'`;
    },
  };
}
