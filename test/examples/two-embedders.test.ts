// F6, F19: two embedders of the Foundation on one database, as two programs would be.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedFoundation, functionRuntime, openFoundation } from '../../src/embedded-foundation.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const names = Array.from({ length: 12 }, (_, index) => `worker${index}`);

function open(): Promise<EmbeddedFoundation> {
  const { target } = test;
  if (target.kind !== 'socket') throw new Error('the test database is behind a socket');
  return openFoundation({
    database: `postgres://${target.user}@localhost/${target.database}?host=${encodeURIComponent(target.directory)}`,
    agents: names.map((name) => ({ name, runtime: 'double', subscriptions: ['news.told'] })),
    runtimes: [functionRuntime({ id: 'double', run: (data) => Number(data) * 2 })],
    logLevel: 'silent',
  });
}

it('share the work; what one of them leaves when it closes the other does, nothing twice', async () => {
  const [one, other] = await Promise.all([open(), open()]);
  const sent: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    for (const [index, to] of names.entries()) {
      const from = index % 2 === 0 ? one : other;
      sent.push(await from.send({ to, type: 'work.do', data: n, eventId: `${to}-${n}` }));
    }
  }
  const again = await other.send({ to: 'worker0', type: 'work.do', data: 0, eventId: 'worker0-0' });
  expect(again).toBe(sent[0]);
  await one.close();
  const outcomes = await Promise.all(sent.map((id) => other.outcome(id)));
  expect(outcomes.map(({ runs }) => runs.filter(({ status }) => status === 'completed').length)).toEqual(
    sent.map(() => 1),
  );
  const told = await other.outcome(await other.send({ type: 'news.told', data: 1 }));
  expect(told.runs.map(({ status, result }) => `${status} ${result}`)).toEqual(names.map(() => 'completed 2'));
  await other.close();
}, 60_000);

it('an outcome is waited for by everybody whom it concerns, also where they are more than an input shows', async () => {
  const many = Array.from({ length: 130 }, (_, index) => `many${index}`);
  const { target } = test;
  if (target.kind !== 'socket') throw new Error('the test database is behind a socket');
  const crowd = await openFoundation({
    database: `postgres://${target.user}@localhost/${target.database}?host=${encodeURIComponent(target.directory)}`,
    agents: many.map((name) => ({ name, runtime: 'double', subscriptions: ['crowd.called'] })),
    runtimes: [functionRuntime({ id: 'double', run: (data) => Number(data) * 2 })],
    logLevel: 'silent',
  });
  const { runs } = await crowd.outcome(await crowd.send({ type: 'crowd.called', data: 4 }));
  expect(runs.map(({ status, result }) => `${status} ${result}`)).toEqual(many.map(() => 'completed 8'));
  await crowd.close();
}, 60_000);
