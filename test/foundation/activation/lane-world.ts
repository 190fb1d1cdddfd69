// An agent whose one session is busy until it is released, with what is needed to fill its lane and to see it worked off.
import { expect } from 'vitest';
import { type AgentInput, type Ingress, keepLeases, resolveInputs, startRuns } from '../../../src/foundation/index.js';
import type { Database } from '../../../src/platform/index.js';
import { type AddAgent, openFoundationWorld } from '../../support/foundation-world.js';
import { recordingRuntime, releaseHeld } from './recording-runtime.js';

export async function busyLane(database: Database, settings: AddAgent) {
  const world = openFoundationWorld(database, { kinds: [recordingRuntime] });
  const agent = await world.addAgent({ runtimeId: 'recording', ...settings });
  const mine = () => ({ resource: `s-${agent.home}` });
  const work = (data: AgentInput['data'], ingress: Partial<Ingress> = {}) =>
    world.send({ type: 'test.work', target: { agent: agent.agent }, subject: mine(), data }, ingress);
  const happen = (data: AgentInput['data'], over: Partial<AgentInput> = {}, ingress: Partial<Ingress> = {}) =>
    world.send({ kind: 'event', type: 'test.happened', subject: mine(), data, ...over }, ingress);

  async function begin(): Promise<void> {
    await resolveInputs(world.parts);
    await startRuns(world.parts);
  }

  async function release(): Promise<void> {
    await begin();
    await expect.poll(() => world.parts.live.list().length).toBe(1);
    await expect
      .poll(() => {
        releaseHeld();
        return world.parts.live.list().length;
      })
      .toBe(0);
    await world.settle();
  }

  await world.subscribe(agent, { type: 'test.*', subject: mine().resource });
  await work({ hold: true });
  await begin();
  return {
    world,
    agent,
    mine,
    work,
    happen,
    begin,
    release,
    /** What the runs of the lane were shown, in the order they began; the busy one left out. */
    shown: async (): Promise<unknown[]> => (await world.runs(agent)).slice(1).map(({ result }) => result),
    /** Lets the window of every held lane have passed. */
    async passWindows(): Promise<void> {
      await database.sql`
        update foundation.candidates set not_before = hearth_now() - interval '1 second'
         where status = 'queued' and not_before is not null`;
      await database.sql`
        update foundation.sessions set lane_due_at = hearth_now() - interval '1 second' where lane_due_at is not null`;
    },
    async resolveAll(): Promise<void> {
      while ((await resolveInputs(world.parts)) === 'more');
      while ((await resolveInputs(world.parts)) === 'more') await keepLeases(world.parts);
    },
  };
}
