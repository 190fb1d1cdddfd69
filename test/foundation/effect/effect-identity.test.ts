import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type EffectResult, effectLimits, isRefusal, performEffect } from '../../../src/foundation/index.js';
import { type CountingServer, startCountingServer } from '../../support/counting-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type EffectWorld, openEffectWorld } from './effect-world.js';

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

function perform(...over: Parameters<EffectWorld['propose']>): Promise<EffectResult> {
  return performEffect(world.gateway, world.propose(...over));
}

const statusOf = (result: EffectResult) => (isRefusal(result) ? `refused:${result.reason}` : result.status);

describe('what can be proposed', () => {
  const input = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });

  test('the input at its limit is performed, one byte more is refused', async () => {
    expect(statusOf(await perform({ input: input(effectLimits.inputBytes) }))).toBe('succeeded');
    const more = { proposalId: 'p2', input: input(effectLimits.inputBytes + 1) };
    expect(statusOf(await perform(more))).toBe('refused:input_too_large');
  });

  test('ids and targets at their limit and beyond', async () => {
    expect(statusOf(await perform({ proposalId: 'p'.repeat(effectLimits.proposalIdChars) }))).toBe('succeeded');
    expect(statusOf(await perform({ proposalId: 'p'.repeat(effectLimits.proposalIdChars + 1) }))).toBe(
      'refused:proposal_id_invalid',
    );
    expect(statusOf(await perform({ proposalId: '' }))).toBe('refused:proposal_id_invalid');
    const target = server.url.padEnd(effectLimits.targetChars + 1, 'x');
    expect(statusOf(await perform({ proposalId: 'p2', target }))).toBe('refused:target_too_long');
    expect(statusOf(await perform({ proposalId: 'p3', target: target.slice(0, -1) }))).toBe('succeeded');
  });

  test.each(['a\u0000b', '\u0000', '\\\u0000', '\ud800'])('text that cannot be stored is refused: %j', async (text) => {
    expect(statusOf(await perform({ input: { text } }))).toBe('refused:not_storable');
    expect(statusOf(await perform({ proposalId: text }))).toBe('refused:not_storable');
  });

  test('a backslash before u0000 is only text', async () => {
    expect(statusOf(await perform({ input: { text: '\\u0000' } }))).toBe('succeeded');
  });

  test('an action without adapter and a target that the adapter does not serve', async () => {
    expect(statusOf(await perform({ action: 'shell.run' }))).toBe('refused:action_unknown');
    expect(statusOf(await perform({ target: 'http://127.0.0.1:1/' }))).toBe('refused:origin_not_allowed');
    expect(await world.effects()).toHaveLength(0);
  });
});
