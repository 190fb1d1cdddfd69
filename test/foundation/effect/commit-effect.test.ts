import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EffectResult, isRefusal, type PreparedEffect, performEffect } from '../../../src/foundation/index.js';
import { type CountingServer, startCountingServer } from '../../support/counting-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { Crash, type EffectWorld, openEffectWorld } from './effect-world.js';

let databases: TestDatabase;
let server: CountingServer;
let world: EffectWorld;
let prepares: number;
let commit: PreparedEffect['commit'];

beforeAll(async () => {
  databases = await createTestDatabase();
  server = await startCountingServer();
  await databases.database.sql`create table notes (home text, text text)`;
});
afterAll(async () => {
  await server.close();
  await databases.drop();
});
beforeEach(async () => {
  world = await openEffectWorld(databases.database, server);
  prepares = 0;
  commit = async (tx) => {
    await tx`insert into notes values (${world.home}, 'done')`;
    return { result: { noted: true } };
  };
  world.adapters.set('note', {
    kind: 'transactional',
    check: () => ({ ok: true }),
    prepare: async (proposal) => {
      prepares += 1;
      return proposal.input.bad ? { refused: 'bad_note' } : { commit, wake: [] };
    },
  });
  return () => world.close();
});

const perform = (...over: Parameters<EffectWorld['propose']>) =>
  performEffect(world.gateway, world.propose({ action: 'note', ...over[0] }, over[1]));
const notes = async () => (await databases.database.sql`select 1 from notes where home = ${world.home}`).length;
const statusOf = (result: EffectResult) => (isRefusal(result) ? `refused:${result.reason}` : result.status);

test('effect, record, event and audit are one commit, and a re-proposal finds it without preparing again', async () => {
  expect(await perform()).toMatchObject({ status: 'succeeded', result: { noted: true } });
  expect(await perform()).toMatchObject({ status: 'succeeded' });
  expect([await notes(), prepares]).toEqual([1, 1]);
  expect((await world.events()).map((event) => event.type)).toEqual(['effect.settled']);
});

test('what went stale is prepared again', async () => {
  const done = commit;
  commit = async (tx) => (prepares < 3 ? 'stale' : done(tx));
  expect(statusOf(await perform())).toBe('succeeded');
  expect([await notes(), prepares]).toEqual([1, 3]);
});

test('what stays stale is given up as contended; nothing is left, and it may be proposed again', async () => {
  const done = commit;
  commit = async (tx) => {
    await done(tx);
    return 'stale';
  };
  expect(statusOf(await perform())).toBe('refused:contended');
  expect([await notes(), prepares, (await world.effects()).length]).toEqual([0, 8, 0]);
  commit = done;
  expect(statusOf(await perform())).toBe('succeeded');
});

test('a refusal at prepare or at commit leaves nothing behind but its event and audit', async () => {
  expect(statusOf(await perform({ input: { bad: true } }))).toBe('refused:bad_note');
  const done = commit;
  commit = async (tx) => {
    await done(tx);
    return { refused: 'too_late' };
  };
  expect(statusOf(await perform())).toBe('refused:too_late');
  expect([await notes(), (await world.effects()).length]).toEqual([0, 0]);
  expect((await world.events()).map((event) => event.type)).toEqual(['effect.refused', 'effect.refused']);
});

test.each(['before', 'after'] as const)(
  'F12: killed %s the commit, the next run does it exactly once',
  async (when) => {
    world.crashAt(`${when}:effect-commit`);
    await expect(perform()).rejects.toThrow(Crash);
    expect(await notes()).toBe(when === 'after' ? 1 : 0);
    await world.replaceRun();
    expect(statusOf(await perform())).toBe('succeeded');
    expect(await notes()).toBe(1);
  },
);

test('the answer to the commit is lost: found, not done twice', async () => {
  world.at('after:effect-commit', () => {
    throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });
  });
  expect(statusOf(await perform())).toBe('succeeded');
  expect(await notes()).toBe(1);
});

test('D17: the placement moves while it is prepared: nothing is committed', async () => {
  const stale = world.run;
  world.at('before:effect-commit', async () => void (await world.replaceRun()));
  expect(statusOf(await perform({}, stale))).toBe('refused:fence_stale');
  expect(await notes()).toBe(0);
});

test('what policy denies is never prepared, and what it revokes meanwhile is not committed', async () => {
  world.revoke();
  expect(statusOf(await perform())).toBe('refused:revoked');
  expect(prepares).toBe(0);
  world.grant();
  world.at('before:effect-commit', async () => world.revoke());
  expect(statusOf(await perform())).toBe('refused:revoked');
  expect(await notes()).toBe(0);
});

test('twenty at once are one effect', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => perform()));
  expect(new Set(results.map(statusOf))).toEqual(new Set(['succeeded']));
  expect(await notes()).toBe(1);
});
