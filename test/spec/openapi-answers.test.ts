// A running domain serves its descriptions, and answers as they say.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openapiFiles } from '../../spec/tools/openapi/documents.js';
import { agentOperations, federationOperations } from '../../spec/tools/openapi/operations.js';
import { type ShapeName, shapes } from '../../spec/tools/openapi/shapes.js';
import { type PrivateDoorWorld, startPrivateDoorWorld } from '../http/private-door-world.js';
import type { ApiAnswer } from '../support/test-domain.js';

let world: PrivateDoorWorld;
beforeAll(async () => {
  world = await startPrivateDoorWorld();
});
afterAll(() => world?.domain.stop());

describe.each(['federation', 'agent'] as const)('the %s door', (door) => {
  const get = (path: string) => {
    const { federation, api } = world.domain.running.urls;
    return fetch(`${door === 'federation' ? federation : api}${path}`);
  };

  test('serves its description without a credential', async () => {
    const answer = await get('/openapi.json');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(openapiFiles()[`${door}.json`]);
  });

  test('serves it as a page that fetches nothing', async () => {
    const answer = await get('/docs');
    const page = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|<link|<img|@import|src=/);
    const operations = Object.keys(door === 'federation' ? federationOperations : agentOperations);
    const shown = operations.map((operation) => operation.replace(/^[A-Z]+/, (method) => method.toLowerCase()));
    expect(shown.filter((operation) => !page.includes(`<code>${operation}</code>`))).toEqual([]);
  });
});

test('answers have the published shapes', async () => {
  const { domain, tokens, settled } = world;
  const seen = new Set<ShapeName>();
  const holds = async (name: ShapeName, answer: ApiAnswer | Promise<ApiAnswer>) => {
    const { status, body } = await answer;
    const parsed = shapes[name].safeParse(body);
    expect({
      name,
      status,
      issues: parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    }).toEqual({ name, status, issues: undefined });
    seen.add(name);
    return answer;
  };
  const api = (method: string, path: string, body?: object, token = domain.operatorToken) =>
    domain.api(method, path, { ...(body ? { body } : {}), token });

  await holds('Problem', api('GET', '/v1/runs/none'));
  await holds('Health', api('GET', '/healthz'));
  await holds('Caller', api('GET', '/v1/whoami', undefined, tokens.producer));
  await holds('Caller', api('GET', '/v1/whoami'));
  const accepted = await holds(
    'Accepted',
    api(
      'POST',
      '/v1/inputs',
      { kind: 'command', type: 'note.read', source_event_id: 'n1', target: { agent: 'echo' }, data: { a: 1 } },
      tokens.ada,
    ),
  );
  await holds('Input', settled(accepted.text('input_id')));
  const runs = await holds('Runs', api('GET', '/v1/runs'));
  const run = first(runs, 'id');
  await holds('Inputs', api('GET', '/v1/inputs'));
  await holds('Dispositions', api('GET', `/v1/inputs/${accepted.text('input_id')}/dispositions`));
  const sessions = await holds('Sessions', api('GET', '/v1/sessions'));
  await holds('Session', api('GET', `/v1/sessions/${first(sessions, 'id')}`));
  const rule = { kind: 'cron', cron: '0 9 * * *', zone: 'Europe/Berlin' };
  const schedule = await holds('Schedule', api('POST', '/v1/schedules', { agent: 'echo', rule }));
  await holds('Schedules', api('GET', '/v1/schedules?agent=echo'));
  await holds('Schedule', api('GET', `/v1/schedules/${schedule.text('id')}`));
  await holds('Audit', api('GET', '/v1/audit?agent=echo'));
  await holds('Run', api('GET', `/v1/runs/${run}`));
  await holds('RunEvents', api('GET', `/v1/runs/${run}/events`));
  const sent = await holds(
    'Sent',
    api(
      'POST',
      '/v1/messages',
      {
        to: 'agent://alpha.test/agents/echo',
        type: 'request',
        body: { action: 'audit.release', subject: 'release://1' },
      },
      tokens.ada,
    ),
  );
  const commitment = sent.text('result', 'commitment_id');
  await holds('Commitments', api('GET', '/v1/commitments', undefined, tokens.ada));
  await holds('Commitment', api('GET', `/v1/commitments/${commitment}`, undefined, tokens.ada));
  await holds(
    'Conversation',
    api('GET', `/v1/conversations/${sent.text('result', 'conversation_id')}`, undefined, tokens.ada),
  );
  await holds('Mailbox', api('GET', '/v1/messages', undefined, tokens.ada));
  const outbox = await holds('Outbox', api('GET', '/admin/v1/outbox'));
  await holds('OutboxItem', api('GET', `/admin/v1/outbox/alpha.test/${first(outbox, 'message_id')}`));
  await holds('Domain', api('GET', '/admin/v1/domain'));
  for (const path of ['directory', 'humans']) await holds('Principals', api('GET', `/admin/v1/${path}`));
  await holds('PrincipalMade', api('POST', '/admin/v1/humans', { name: 'carol' }));
  await holds(
    'AgentMade',
    api('POST', '/admin/v1/agents', { name: 'second', runtime: { id: 'scripted', config: { rules: [] } } }),
  );
  await holds('AgentHomes', api('GET', '/admin/v1/agents'));
  await holds('AgentHome', api('POST', '/admin/v1/agents/second/pause'));
  await holds('SubscriptionMade', api('POST', '/admin/v1/agents/second/subscriptions', { type: 'a.*' }));
  await holds('Subscriptions', api('GET', '/admin/v1/agents/second/subscriptions'));
  await holds('SourceMade', api('POST', '/admin/v1/sources', { name: 'github', adapter: 'github' }));
  await holds('Sources', api('GET', '/admin/v1/sources'));
  const made = await holds(
    'CredentialMade',
    api('POST', '/admin/v1/credentials', { kind: 'person', principal: 'carol' }),
  );
  await holds('Credentials', api('GET', '/admin/v1/credentials'));
  await holds('CredentialRevoked', api('POST', `/admin/v1/credentials/${made.text('credential', 'id')}/revoke`));
  await holds('PeerPinned', api('POST', '/admin/v1/peers', { domain: 'gamma.test', fingerprint: 'A'.repeat(43) }));
  await holds('Peers', api('GET', '/admin/v1/peers'));
  await holds('Peer', api('POST', '/admin/v1/peers/gamma.test/block'));
  await domain.test.database.sql`
    insert into federation.quarantine_items
           (peer, message_id, recipient, sender, header, signature, body, bytes, expires_at)
    values ('far.test', 'msg_1', 'agent://alpha.test/agents/echo', 'agent://far.test/agents/x', 'h', 's', 'b', 3,
            hearth_now() + interval '1 day')`;
  await holds('Quarantine', api('GET', '/admin/v1/quarantine'));
  await holds('QuarantineDropped', api('DELETE', '/admin/v1/quarantine/far.test'));
  const directory = await fetch(`${domain.running.urls.federation}/federation/v1/directory`);
  expect(shapes.Directory.safeParse(await directory.json()).error).toBeUndefined();
  const others: ShapeName[] = ['Directory', 'TransitionLog'];
  expect(Object.keys(shapes).filter((name) => ![...seen, ...others].includes(name as ShapeName))).toEqual([]);
});

/** A member of the first item of a list. */
function first({ body }: ApiAnswer, member: string): string {
  const [item] = Array.isArray(body.items) ? body.items : [];
  return String(Reflect.get(Object(item), member));
}
