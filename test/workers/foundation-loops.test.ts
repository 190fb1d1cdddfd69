import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundationChannels, readRunEvents, runChannel } from '../../src/foundation/index.js';
import {
  runKeepLeases,
  runReapRuns,
  runReplaySuspensions,
  runResolveInputs,
  runStartRuns,
} from '../../src/workers/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openFoundationWorld } from '../support/foundation-world.js';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());

it('the loops alone carry a command through a wait and its answer to the end', async () => {
  const world = openFoundationWorld(test.database);
  const { parts } = world;
  const stop = new AbortController();
  const loops = [runResolveInputs, runReplaySuspensions, runStartRuns, runReapRuns, runKeepLeases].map((run) =>
    run(parts, stop.signal),
  );
  const until = [{ type: 'test.answer', subject: '{{/activation/subject/resource}}' }];
  const script = {
    rules: [
      {
        when: { type: 'test.ask' },
        steps: [{ suspend: { reason: 'r', until } }, { complete: { $ref: '/activation/data' } }],
      },
    ],
  };
  const agent = await world.addAgent({ script });
  const subject = { resource: 'asked' };

  await world.send({ type: 'test.ask', target: { agent: agent.agent }, subject });
  parts.wakeups.wake(foundationChannels.inputs);
  await ended(0);
  await world.send({ kind: 'event', type: 'test.answer', subject, data: 'answered' });
  parts.wakeups.wake(foundationChannels.inputs);
  await ended(1);

  expect(await world.runs(agent)).toMatchObject([{ status: 'suspended' }, { status: 'completed', result: 'answered' }]);
  stop.abort();
  await Promise.all(loops);

  async function ended(index: number): Promise<void> {
    for (;;) {
      const run = (await world.runs(agent))[index];
      const page = run && (await readRunEvents(test.database.sql, run.id, { after: 0, limit: 100 }));
      if (page?.kind === 'page' && page.ended) return;
      await parts.wakeups.wait(run ? runChannel(run.id) : foundationChannels.runs, 50);
    }
  }
});
