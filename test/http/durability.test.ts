/**
 * BR-23 at every door: what was acknowledged exists after SIGKILL of the process 0 to 50 ms later, and a drain under load
 * stores or refuses each request, but acknowledges none that it loses.
 */
import { sign } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, systemClock } from '../../src/platform/index.js';
import { type DomainChild, domainChild, freePort } from '../support/domain-child.js';
import { type ApiAnswer, callDoor, startTestDomain, type TestDomain } from '../support/test-domain.js';

const rounds = process.env.HEARTH_TEST_LONG === '1' ? 200 : 4;
const random = seededRandom(23);
const clock = systemClock();

let alpha: DomainChild;
let beta: TestDomain;
let secret = '';

beforeAll(async () => {
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const betaUrl = `http://127.0.0.1:${ports[2]}`;
  alpha = await domainChild({
    domain: 'alpha.test',
    federationPort: ports[0],
    apiPort: ports[1],
    resolve: `beta.test=${betaUrl}`,
  });
  beta = await startTestDomain({
    domain: 'beta.test',
    env: { HEARTH_FEDERATION_PORT: String(ports[2]), HEARTH_RESOLVE: `alpha.test=${alpha.federationUrl}` },
  });
  await alpha.start();
  const source = await api('POST', '/admin/v1/sources', { name: 'github', adapter: 'github' });
  secret = source.text('webhook', 'secret');
  const own = await api('GET', '/admin/v1/domain');
  await beta.api('POST', '/admin/v1/peers', { body: { domain: 'alpha.test', fingerprint: own.text('fingerprint') } });
  await api('POST', '/admin/v1/peers', { domain: 'beta.test', fingerprint: beta.running.fingerprint });
}, 60_000);

afterAll(async () => {
  await alpha.remove();
  await beta.stop();
});

function api(method: string, path: string, body?: object): Promise<ApiAnswer> {
  return callDoor(method, `${alpha.apiUrl}${path}`, { token: alpha.operatorToken(), body });
}

async function postWebhook(id: string): Promise<string> {
  const body = JSON.stringify({ zen: id });
  const answer = await callDoor('POST', `${alpha.federationUrl}/webhooks/github/github`, {
    body,
    headers: {
      'x-github-event': 'ping',
      'x-github-delivery': id,
      'x-hub-signature-256': await sign(secret, body),
    },
  });
  expect(answer.status).toBe(202);
  return answer.text('input_id');
}

async function postInput(id: string): Promise<string> {
  const answer = await api('POST', '/v1/inputs', { kind: 'event', type: 'load.test', source_event_id: id });
  expect(answer.status).toBe(202);
  return answer.text('input_id');
}

/** Resolves with the message id once alpha has answered that it has the message. */
async function deliverFromBeta(): Promise<string> {
  const sent = await beta.api('POST', '/v1/messages', {
    body: { to: 'human://alpha.test/users/operator', type: 'message', body: { text: 'hello' } },
  });
  const id = sent.text('result', 'message_id');
  await expect
    .poll(async () => (await beta.api('GET', `/admin/v1/outbox/alpha.test/${id}`)).body.status, {
      timeout: 20_000,
      interval: 5,
    })
    .toBe('delivered');
  return id;
}

async function mailboxHolds(messageId: string): Promise<boolean> {
  const { body } = await api('GET', '/v1/messages?limit=200');
  return JSON.stringify(body.items).includes(`"message_id":"${messageId}"`);
}

describe('acknowledged is durable (BR-23)', () => {
  it(`SIGKILL 0 to 50 ms after the answer loses nothing, at any door, ${rounds} times`, {
    timeout: rounds * 30_000,
  }, async () => {
    const doors = [postWebhook, postInput, deliverFromBeta];
    for (let round = 0; round < rounds; round += 1) {
      const door = doors[round % doors.length] ?? postInput;
      const id = await door(`round-${round}`);
      await clock.sleep(random.uniform(0, 50));
      await alpha.kill();
      await alpha.start();
      if (door === deliverFromBeta) expect([round, await mailboxHolds(id)]).toEqual([round, true]);
      else expect([round, (await api('GET', `/v1/inputs/${id}`)).status]).toEqual([round, 200]);
    }
  });

  it('SIGTERM under load: each request is stored, or refused, and none is acknowledged and lost', {
    timeout: 120_000,
  }, async () => {
    const acknowledged: string[] = [];
    const answers = new Set<number>();
    let stopped = false;
    const load = Array.from({ length: 8 }, async (_, worker) => {
      for (let count = 0; !stopped; count += 1) {
        const answer = await api('POST', '/v1/inputs', {
          kind: 'event',
          type: 'load.test',
          source_event_id: `load-${worker}-${count}`,
        }).catch(() => undefined);
        if (answer) answers.add(answer.status);
        if (answer?.status === 202) acknowledged.push(answer.text('input_id'));
        // Nothing listens any more.
        if (!answer) return;
      }
    });
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    const code = await alpha.terminate();
    stopped = true;
    await Promise.all(load);
    expect(code).toBe(0);
    expect([...answers].sort()).toEqual(answers.has(503) ? [202, 503] : [202]);
    await alpha.start();
    const missing = [];
    for (const id of acknowledged) if ((await api('GET', `/v1/inputs/${id}`)).status !== 200) missing.push(id);
    expect(missing).toEqual([]);
  });

  it('the token is shown once, the addresses before it, and the development map loudly (BR-78, BR-83)', async () => {
    const tokens = new Set(alpha.said().match(/hearth_operator_[A-Za-z0-9_-]{43}/g));
    expect(tokens.size).toBe(1);
    expect(alpha.said().indexOf('agent://alpha.test/agents/NAME')).toBeLessThan(
      alpha.said().indexOf(alpha.operatorToken()),
    );
    expect(alpha.said()).toContain('beta.test -> http://127.0.0.1:');
    expect(alpha.said()).toContain('DEVELOPMENT');
  });
});
