import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type EffectResult,
  effectLimits,
  isRefusal,
  observationOf,
  performEffect,
} from '../../../src/foundation/index.js';
import { type CountingServer, startCountingServer } from '../../support/counting-server.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { Crash, type CrashPoint, type EffectWorld, openEffectWorld } from './effect-world.js';

let databases: TestDatabase;
let server: CountingServer;
let world: EffectWorld;

beforeAll(async () => {
  databases = await createTestDatabase({ maxConnections: 12 });
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
const typesOf = (events: { type: string }[]) => events.map((event) => event.type);

describe('F12: intent before dispatch', () => {
  test('while the target works, the committed record says dispatching and the events tell of the intent', async () => {
    const seen: string[] = [];
    server.during(async () => {
      seen.push(...(await world.effects()).map((effect) => effect.status), ...typesOf(await world.events()));
    });
    const result = await perform();
    expect(seen).toEqual(['dispatching', 'effect.pending', 'effect.dispatching']);
    expect(observationOf(result)).toMatchObject({
      status: 'succeeded',
      result: { done: 1 },
    });
    expect(typesOf(await world.events())).toEqual(['effect.pending', 'effect.dispatching', 'effect.settled']);
    expect(server.executions).toEqual([{ key: expect.any(String), body: '{"order":1}' }]);
    expect((await world.effects())[0]).toMatchObject({ status: 'succeeded', attempt: 1, runId: world.run.runId });
  });

  test('a refusal by the target is a failed effect with its reason and answer', async () => {
    server.behave('refuse');
    expect(observationOf(await perform())).toMatchObject({
      status: 'failed',
      reason: 'http_422',
      result: { error: 'no' },
    });
  });

  test('an answer of the target that the limits forbid is replaced by a note, and the effect still succeeded', async () => {
    world.adapters.set('big', {
      kind: 'dispatching',
      timeoutMs: 1_000,
      check: () => ({ ok: true }),
      dispatch: async () => ({ status: 'succeeded', result: 'x'.repeat(effectLimits.resultBytes) }),
      query: async () => ({ status: 'not_found' }),
    });
    expect(observationOf(await perform({ action: 'big' }))).toMatchObject({
      status: 'succeeded',
      result: { omitted: 'too_large' },
    });
  });
});

describe('F12: a re-proposal finds the first', () => {
  test('in the same run and in a later one, without a second dispatch; the later run is told', async () => {
    const first = await perform();
    expect(await perform()).toEqual(first);
    const later = await world.replaceRun();
    expect(observationOf(await perform())).toEqual(observationOf(first));
    expect(server.executions).toHaveLength(1);
    expect(typesOf(await world.events(later.runId))).toEqual(['effect.observed']);
  });

  test('the same id with other content is refused as reused', async () => {
    await perform();
    expect(statusOf(await perform({ input: { order: 2 } }))).toBe('refused:proposal_reused');
    expect(statusOf(await perform({ target: `${server.url}/2` }))).toBe('refused:proposal_reused');
    expect(server.executions).toHaveLength(1);
  });

  test('twenty proposals of one id at once are one effect, and all learn its outcome', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => perform()));
    expect(new Set(results.map(statusOf))).toEqual(new Set(['succeeded']));
    expect(server.executions).toHaveLength(1);
    expect(await world.effects()).toHaveLength(1);
  });
});

const crashPoints: CrashPoint[] = [
  'before:effect-intent',
  'after:effect-intent',
  'before:effect-claim',
  'after:effect-claim',
  'before:send',
  'after:send',
  'before:effect-settle',
  'after:effect-settle',
];

describe('F12: killed at each step', () => {
  test.each(crashPoints)(
    '%s: the run that replaces the dead one finishes the effect, done exactly once',
    async (point) => {
      world.crashAt(point);
      await expect(perform()).rejects.toThrow(Crash);
      await world.replaceRun();
      await world.lapseClaims();
      expect(statusOf(await perform())).toBe('succeeded');
      expect(server.executions).toHaveLength(1);
      expect(await world.effects()).toHaveLength(1);
    },
  );

  test('any sequence of kills, cuts and errors ends with one execution and a settled record', async () => {
    const step = fc.record({
      crash: fc.option(fc.constantFrom(...crashPoints), { nil: undefined }),
      target: fc.constantFrom('answer', 'cut_before', 'cut_after', 'error_after' as const),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), async (steps) => {
        round += 1;
        const proposalId = `round-${round}`;
        const before = server.executions.length;
        for (const { crash, target } of steps) {
          if (crash) world.crashAt(crash);
          server.behave(target);
          await perform({ proposalId }).catch((error: unknown) => {
            if (!(error instanceof Crash)) throw error;
          });
          await world.replaceRun();
          await world.lapseClaims();
        }
        server.behave();
        expect(statusOf(await perform({ proposalId }))).toBe('succeeded');
        expect(server.executions.length - before).toBe(1);
      }),
      { seed: 7, numRuns: process.env.HEARTH_TEST_LONG ? 300 : 30 },
    );
  }, 300_000);

  test.each(['effect-intent', 'effect-claim', 'effect-settle'])(
    'the connection is lost at the commit of %s, and the same run goes on',
    async (name) => {
      world.at(`after:${name}`, async () => {
        await world.lapseClaims();
        throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
      });
      expect(statusOf(await perform())).toBe('succeeded');
      expect(server.executions).toHaveLength(1);
      expect(typesOf(await world.events()).filter((type) => type === 'effect.pending')).toHaveLength(1);
    },
  );
});

describe('BR-46: an unknown outcome is neither failed nor done again', () => {
  test.each(['cut_after', 'error_after'] as const)(
    '%s: recorded unknown, asked, settled; one execution',
    async (behaviour) => {
      server.behave(behaviour);
      expect(statusOf(await perform())).toBe('succeeded');
      expect(typesOf(await world.events())).toEqual([
        'effect.pending',
        'effect.dispatching',
        'effect.unknown',
        'effect.settled',
      ]);
      expect(server.executions).toHaveLength(1);
      expect(server.requests.filter((request) => request.method === 'POST')).toHaveLength(1);
    },
  );

  test('a target that never saw the key gets it again, under the same key', async () => {
    server.behave('cut_before', 'cut_before');
    expect(statusOf(await perform())).toBe('succeeded');
    expect((await world.effects())[0]).toMatchObject({ attempt: 3 });
    expect(server.executions).toHaveLength(1);
  });

  test('a dispatch that outlives its time limit is asked about', async () => {
    server.behave('hang');
    expect(statusOf(await perform())).toBe('succeeded');
    expect(server.executions).toHaveLength(1);
  });

  test('attempts are bounded; a target that certainly never saw it makes it failed', async () => {
    server.behave(...Array.from({ length: effectLimits.attempts + 2 }, () => 'cut_before' as const));
    expect(observationOf(await perform())).toMatchObject({ status: 'failed', reason: 'attempts_exhausted' });
    expect(server.executions).toHaveLength(0);
  });

  test('a target that does not know of keys leaves it unknown, for this run and the next, and nothing is sent twice', async () => {
    await server.close();
    server = await startCountingServer({ honoursKeys: false });
    await world.close();
    world = await openEffectWorld(databases.database, server);
    server.behave('cut_after');
    expect(statusOf(await perform())).toBe('unknown');
    await world.replaceRun();
    await world.lapseClaims();
    expect(statusOf(await perform())).toBe('unknown');
    expect(server.executions).toHaveLength(1);
  });
});

describe('D17, BR-55: who acts', () => {
  test('a stale epoch has no effect at all, and each refusal is audited', async () => {
    const stale = world.run;
    await world.replaceRun();
    const tries = process.env.HEARTH_TEST_LONG ? 1_000 : 100;
    for (let index = 0; index < tries; index += 1) {
      expect(statusOf(await perform({ proposalId: `p${index}` }, stale))).toBe('refused:fence_stale');
    }
    expect(server.requests).toHaveLength(0);
    expect(await world.effects()).toHaveLength(0);
    const audits = await world.audits('effect.propose');
    expect(audits.filter((audit) => audit.details.reason === 'fence_stale')).toHaveLength(tries);
  });

  test('the placement moves between intent and dispatch: not dispatched, and adopted under the new epoch', async () => {
    const stale = world.run;
    world.at('before:effect-claim', async () => void (await world.replaceRun()));
    expect(statusOf(await perform({}, stale))).toBe('refused:fence_stale');
    expect(server.requests).toHaveLength(0);
    expect((await world.effects())[0]).toMatchObject({ status: 'pending' });
    expect(statusOf(await perform())).toBe('succeeded');
    expect((await world.effects())[0]).toMatchObject({
      runId: world.run.runId,
      placementEpoch: world.run.fence.placementEpoch,
    });
  });

  test('BR-57: a run that has ended proposes nothing more, even under a live placement', async () => {
    await world.endRun();
    expect(statusOf(await perform())).toBe('refused:run_over');
    expect(server.requests).toHaveLength(0);
  });

  test('a fence of another home is refused', async () => {
    const run = { ...world.run, fence: { ...world.run.fence, home: 'other' } };
    expect(statusOf(await perform({}, run))).toBe('refused:fence_of_another_home');
  });

  test('what is revoked between intent and dispatch is not dispatched', async () => {
    world.at('after:effect-intent', async () => world.revoke());
    expect(statusOf(await perform())).toBe('refused:revoked');
    expect(server.requests).toHaveLength(0);
    expect(typesOf(await world.events())).toEqual(['effect.pending', 'effect.refused']);
  });

  test('a refusal is an event of the run and an audit row, and may be proposed again once it is granted', async () => {
    world.revoke();
    expect(await perform()).toEqual({ refused: true, reason: 'revoked', policyId: 'test.policy' });
    expect(await world.events()).toMatchObject([{ type: 'effect.refused', data: { reason: 'revoked' } }]);
    expect(await world.audits('effect.propose')).toMatchObject([{ outcome: 'refused' }]);
    world.grant();
    expect(statusOf(await perform())).toBe('succeeded');
  });

  test('a person proposes without run or fence', async () => {
    const { run: _, ...proposal } = world.propose({ proposalScope: `principal:${world.home}` });
    expect(statusOf(await performEffect(world.gateway, proposal))).toBe('succeeded');
    expect((await world.effects())[0]).toMatchObject({ runId: null, placementEpoch: null });
  });
});
