/**
 * Wrong servers, each made of a real domain with one thing changed on its way: the check that is meant for it says so. The
 * honest domain passes through the same layers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerTo } from '../../conformance/peer/answer.js';
import type { Received } from '../../conformance/peer/listener.js';
import { notReached } from '../../conformance/scenario.js';
import { type ConformanceTarget, startConformanceTarget } from './conformance-target.js';
import { decisionMutants } from './decision-mutants.js';
import { doorMutants } from './door-mutants.js';
import type { Mutant } from './mutant.js';
import { outboundMutants } from './outbound-mutants.js';
import { type Passing, type Returning, startTamperingProxy, type TamperingProxy } from './tampering-proxy.js';

let target: ConformanceTarget;
let layers: Record<Mutant['at'], TamperingProxy>;

const mutants: readonly Mutant[] = [...doorMutants, ...decisionMutants, ...outboundMutants];

// Key changes leave their traces, so that each run of them is played under another name.
const originOf = ({ scenario }: Mutant) => (scenario === 'key-changes' ? 'changing.test' : 'conformance.test');

beforeAll(async () => {
  const outbound = await startTamperingProxy(() => `http://127.0.0.1:${target.listen.port}`);
  target = await startConformanceTarget({ dialled: outbound, originDomains: ['conformance.test', 'changing.test'] });
  const { urls } = target.domain.running;
  layers = {
    outbound,
    federation: await startTamperingProxy(() => urls.federation),
    private: await startTamperingProxy(() => urls.api),
  };
}, 120_000);
afterAll(async () => {
  await target.stop();
  await Promise.all(Object.values(layers).map((layer) => layer.close()));
});

/** What the played domain would have answered to a trusting sender. */
function rightAnswer(request: Passing): Returning {
  const host = request.fields.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  const { body = '' } = answerTo(target.played(host), received(request, host));
  return { status: 200, fields: [['content-type', 'application/json']], body: Buffer.from(body) };
}

function received({ method, path, fields, body }: Passing, host: string): Received {
  return { method, path, fields, body, host, atMs: 0 };
}

async function failedIds(scenario: string, originDomain: string): Promise<string[]> {
  const { summary } = await target.play({
    only: [scenario],
    originDomain,
    target: layers.federation.url,
    privateUrl: layers.private.url,
  });
  // What was not reached was not seen: only an observation catches anything.
  return summary.verdicts
    .filter(({ observations }) => observations.some(({ outcome, what }) => outcome === 'failed' && what !== notReached))
    .map(({ id }) => id);
}

test('there are at least twenty, and each has a name', () => {
  expect(mutants.length).toBeGreaterThanOrEqual(20);
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

const quick = ['self-description', 'open-door', 'request-signatures', 'strict-json', 'transactions', 'directory'];

test.each(quick)('the honest domain passes %s through the same layers', async (scenario) => {
  expect(await failedIds(scenario, 'conformance.test')).toEqual([]);
});

describe.each(mutants)('$name', (mutant) => {
  test(`is caught by ${mutant.caughtBy.join(', ')}`, { timeout: 90_000 }, async () => {
    const layer = layers[mutant.at];
    const { tamper } = layer;
    layer.tamper = mutant.make({ right: rightAnswer, suite: target.listen });
    try {
      expect(await failedIds(mutant.scenario, originOf(mutant))).toEqual(expect.arrayContaining([...mutant.caughtBy]));
    } finally {
      layer.tamper = tamper;
    }
  });
});
