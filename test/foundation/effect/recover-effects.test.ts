import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type EffectResult, isRefusal, performEffect, recoverEffects } from '../../../src/foundation/index.js';
import { type CountingServer, startCountingServer } from '../../support/counting-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { Crash, type CrashPoint, type EffectWorld, openEffectWorld } from './effect-world.js';

let databases: TestDatabase;
let server: CountingServer;
let world: EffectWorld;

beforeAll(async () => {
  databases = await createTestDatabase();
});
afterAll(() => databases.drop());
beforeEach(async () => {
  server = await startCountingServer();
  world = await openEffectWorld(databases.database, server);
});
afterEach(async () => {
  await world.close();
  await server.close();
});

const perform = () => performEffect(world.gateway, world.propose());
const statusOf = (result: EffectResult) => (isRefusal(result) ? `refused:${result.reason}` : result.status);
const effect = async () => (await world.effects())[0];

/** A host killed at a point; nobody proposes again. */
async function killAt(point: CrashPoint): Promise<void> {
  world.crashAt(point);
  await expect(perform()).rejects.toThrow(Crash);
  await world.replaceRun();
  await world.lapseClaims();
}

test('F12: a dispatch that did happen is confirmed after its run is over, without a second one', async () => {
  await killAt('after:send');
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'succeeded', attempt: 1 });
  expect(server.executions).toHaveLength(1);
  expect((await world.audits('effect.settle')).map((audit) => audit.outcome)).toEqual(['succeeded']);
});

test('F12: a dispatch that never happened goes back to pending while the session goes on, and is adopted', async () => {
  await killAt('before:send');
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'pending' });
  expect(server.executions).toHaveLength(0);
  expect(statusOf(await perform())).toBe('succeeded');
  expect(server.executions).toHaveLength(1);
});

test('an intent whose runs have ended for good ends with them', async () => {
  await killAt('before:effect-claim');
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'pending' });
  await world.endRun();
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'failed', reasonCode: 'run_ended' });
  expect(server.requests).toHaveLength(0);
});

test('a live run keeps its dispatch to itself, and so does a claim that has not lapsed', async () => {
  world.at('before:send', async () => {
    await world.lapseClaims();
    await recoverEffects(world.gateway);
    expect(await effect()).toMatchObject({ status: 'dispatching' });
  });
  expect(statusOf(await perform())).toBe('succeeded');
  world.crashAt('before:effect-settle');
  const second = performEffect(world.gateway, world.propose({ proposalId: 'second' }));
  await expect(second).rejects.toThrow(Crash);
  await world.replaceRun();
  await recoverEffects(world.gateway);
  expect((await world.effects()).map((each) => each.status)).toContain('dispatching');
});

test('BR-46: an outcome that stayed unknown is asked about later, and its live run learns it', async () => {
  server.behave('cut_after');
  const dead = new URL(server.url);
  world.at('after:effect-settle', () => server.close());
  expect(statusOf(await perform())).toBe('unknown');
  const again = await startCountingServer({ port: Number(dead.port), executions: server.executions });
  await recoverEffects(world.gateway);
  expect(await effect(), 'not asked before its time').toMatchObject({ status: 'unknown' });
  await world.lapseClaims();
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'succeeded' });
  expect((await world.events()).map((event) => event.type).slice(-2)).toEqual(['effect.unknown', 'effect.settled']);
  expect(server.executions).toHaveLength(1);
  server = again;
});

test('who cannot be asked is asked at growing distances and given up after a day; it stays unknown', async () => {
  await server.close();
  await world.close();
  server = await startCountingServer({ honoursKeys: false });
  world = await openEffectWorld(databases.database, server);
  server.behave('cut_after');
  expect(statusOf(await perform())).toBe('unknown');
  const { sql } = databases.database;
  for (const [age, next] of [
    ['1 second', 30],
    ['10 minutes', 600],
    ['5 hours', 3_600],
    ['2 days', null],
  ] as const) {
    await world.lapseClaims();
    await sql`update foundation.effects set dispatched_at = hearth_now() - ${age}::interval where home = ${world.home}`;
    await recoverEffects(world.gateway);
    const [row] = await sql<{ seconds: number | null }[]>`
      select round(extract(epoch from claimed_until - hearth_lease_now()))::int as seconds
        from foundation.effects where home = ${world.home} and status = 'unknown'`;
    if (next === null) expect(row?.seconds).toBeNull();
    else expect(Math.abs((row?.seconds ?? 0) - next)).toBeLessThan(10);
  }
  expect(server.executions).toHaveLength(1);
});

test('what a person proposed and never came back for is abandoned after ten minutes', async () => {
  const { run: _, ...proposal } = world.propose({ proposalScope: `principal:${world.home}` });
  world.crashAt('after:effect-intent');
  await expect(performEffect(world.gateway, proposal)).rejects.toThrow(Crash);
  await world.replaceRun();
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'pending' });
  await databases.database.sql`
    update foundation.effects set created_at = created_at - interval '11 minutes' where home = ${world.home}`;
  await recoverEffects(world.gateway);
  expect(await effect()).toMatchObject({ status: 'failed', reasonCode: 'abandoned' });
});

test('a success that comes after the record was given up as failed is kept in the audit', async () => {
  world.at('after:send', async () => {
    await world.endRun();
    await databases.database.sql`
      update foundation.effects set status = 'failed', settled_at = hearth_now(), reason_code = 'run_ended'
       where home = ${world.home}`;
  });
  await perform();
  expect(await effect()).toMatchObject({ status: 'failed' });
  expect((await world.audits('effect.settle')).map((audit) => audit.outcome)).toEqual(['late']);
});

test('several hosts that sweep at once settle each effect once', async () => {
  await killAt('after:send');
  await Promise.all(Array.from({ length: 5 }, () => recoverEffects(world.gateway)));
  expect((await world.audits('effect.settle')).map((audit) => audit.outcome)).toEqual(['succeeded']);
});
