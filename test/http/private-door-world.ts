// A domain with people, a producer and an agent, as the tests of the private door need it.
import { expect } from 'vitest';
import { type ApiAnswer, startTestDomain, type TestDomain } from '../support/test-domain.js';

export interface PrivateDoorWorld {
  domain: TestDomain;
  tokens: { ada: string; bob: string; producer: string };
  /** The input once it has been resolved and, when a run took it, once that run is over. */
  settled(id: string, token?: string): Promise<ApiAnswer>;
}

export const echoScript = {
  rules: [
    { when: { type: 'note.*' }, steps: [{ complete: { seen: { $ref: '/activation/data' } } }] },
    {
      when: { type: 'wait.*' },
      steps: [
        { say: 'waiting' },
        { suspend: { reason: 'asked', until: [{ type: 'answer.given' }] } },
        { complete: 'went on' },
      ],
    },
  ],
};

export async function startPrivateDoorWorld(): Promise<PrivateDoorWorld> {
  const domain = await startTestDomain();
  await domain.api('POST', '/admin/v1/humans', { body: { name: 'ada' } });
  await domain.api('POST', '/admin/v1/humans', { body: { name: 'bob' } });
  await domain.api('POST', '/admin/v1/sources', { body: { name: 'sensor' } });
  const issue = async (kind: string, principal: string) =>
    (await domain.api('POST', '/admin/v1/credentials', { body: { kind, principal, label: 'test' } })).text('token');
  const tokens = {
    ada: await issue('person', 'ada'),
    bob: await issue('person', 'bob'),
    producer: await issue('producer', 'sensor'),
  };
  const created = await domain.api('POST', '/admin/v1/agents', {
    body: {
      name: 'echo',
      owner: 'ada',
      runtime: { id: 'scripted', config: echoScript },
      subscriptions: [{ type: 'sensor.reading' }],
    },
  });
  expect(created.status).toBe(201);

  async function settled(id: string, token = domain.operatorToken): Promise<ApiAnswer> {
    let last: ApiAnswer | undefined;
    await expect
      .poll(
        async () => {
          last = await domain.api('GET', `/v1/inputs/${id}`, { token });
          const done = JSON.stringify(last.body).match(/"status":"(queued|running)"/) === null;
          return last.body.resolved === true && done;
        },
        { timeout: 15_000 },
      )
      .toBe(true);
    if (!last) throw new Error('nothing was read');
    return last;
  }

  return { domain, tokens, settled };
}

/** A command to the agent, with what a test needs otherwise. */
export function noteFor(event: string, more: object = {}): object {
  return {
    kind: 'command',
    type: 'note.written',
    source_event_id: event,
    target: { agent: 'echo' },
    data: { n: 1 },
    ...more,
  };
}
