import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type FoundationWorld, openFoundationWorld } from '../../support/foundation-world.js';

let test: TestDatabase;
let world: FoundationWorld;

beforeAll(async () => {
  test = await createTestDatabase();
  world = openFoundationWorld(test.database);
});
afterAll(() => test.drop());

const answerTo = (name: string) => [{ type: 'test.answer', subject: `{{/activation/subject/resource}}/${name}` }];
const script = {
  rules: [
    {
      when: { type: 'test.ask' },
      steps: [
        { suspend: { reason: 'first', until: answerTo('a') } },
        { require: { of: { $ref: '/activation/data' }, equals: 'a' } },
        // `first` is the input that began it all.
        { suspend: { reason: 'second', until: [{ type: 'test.answer', subject: '{{/first/subject/resource}}/b' }] } },
        { complete: { $ref: '/activation/data' } },
      ],
    },
    { when: { type: 'test.*' }, steps: [{ complete: 'taken as work of its own' }] },
  ],
};

it.each(['event', 'command'] as const)(
  'F14: of two things asked at once, the answer that comes first to the later wait (%s) is not lost',
  async (kind) => {
    const agent = await world.addAgent({ script });
    const resource = `asked-${kind}`;
    const target = { agent: agent.agent };
    await world.send({ type: 'test.ask', target, subject: { resource }, correlation_id: resource });
    await world.settle();
    for (const name of ['b', 'a']) {
      const subject = { resource: `${resource}/${name}` };
      await world.send({ kind, type: 'test.answer', target, subject, correlation_id: resource, data: name });
      await world.settle();
    }
    expect((await world.runs(agent)).map(({ status, result }) => [status, result])).toEqual([
      ['suspended', null],
      ['suspended', null],
      ['completed', 'b'],
    ]);
    const [left] = await test.database.sql`
      select count(*) as open from foundation.candidates where home = ${agent.home} and status in ('queued', 'running')`;
    expect(left).toEqual({ open: 0 });
  },
);
