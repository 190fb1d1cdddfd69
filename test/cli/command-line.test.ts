import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli, testUrl } from './cli-world.js';

beforeAll(() => nock.disableNetConnect());
afterEach(() => {
  expect(nock.pendingMocks()).toEqual([]);
  nock.cleanAll();
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

const agent = {
  address: 'agent://alpha.test/agents/triage',
  principal_id: 'prn_x',
  owner: 'human://alpha.test/users/operator',
  status: 'active',
  runtime: { id: 'scripted', config: {} },
  attention: { when_active: 'enqueue' },
};

const commands = [
  'start',
  'demo',
  'send',
  'inbox',
  'outbox',
  'agent create',
  'agent list',
  'agent show',
  'agent pause',
  'agent resume',
  'agent subscribe',
  'human create',
  'human list',
  'source create',
  'source list',
  'credential issue',
  'credential revoke',
  'credential list',
  'peer pin',
  'peer list',
  'peer show',
  'peer fingerprint',
  'peer block',
  'quarantine list',
  'quarantine drop',
  'runs list',
  'runs show',
  'runs events',
  'commitment show',
  'commitment list',
];

describe('help', () => {
  it.each(commands)('of `%s` has an example and exits 0', async (command) => {
    const ran = await runCli([...command.split(' '), '--help']);
    expect(ran).toMatchObject({ exitCode: 0, err: '' });
    expect(ran.out).toMatch(new RegExp(`Examples?:\n +\\$ .*hearth .*${command.split(' ')[0]}`));
  });

  it('of `start` names every setting with its variable', async () => {
    const { out } = await runCli(['start', '--help']);
    for (const variable of ['HEARTH_DOMAIN', 'HEARTH_RESOLVE', 'HEARTH_DATABASE_URL']) expect(out).toContain(variable);
  });
});

describe('wrong usage', () => {
  it.each([
    ['nonsense'],
    ['agent'],
    ['agent', 'nonsense'],
    ['runs', 'show'],
    ['runs', 'list', '--limit', 'many'],
    ['agent', 'create', 'x', '--grant', 'no-target'],
    ['credential', 'issue', '--kind', 'king', '--principal', 'ada'],
    ['credential', 'issue', '--kind', 'person', '--principal', 'ada', '--expires-in', 'soon'],
    ['send', 'agent://beta.test/agents/x'],
    ['send', 'agent://beta.test/agents/x', 'text', '--body', '{}'],
    ['send', 'agent://beta.test/agents/x', 'text', '--type', 'request'],
    ['send', 'agent://beta.test/agents/x', '--body', '[1]'],
  ])('%s %s %s exits 2 and sends nothing', async (...args) => {
    const ran = await runCli(args.filter((arg) => arg !== undefined));
    expect(ran.exitCode).toBe(2);
    expect(ran.err).not.toBe('');
  });
});

describe('answers', () => {
  it('are a table for people, with the way to the next page beside it', async () => {
    nock(testUrl)
      .get('/admin/v1/agents')
      .query({ limit: 1, cursor: 'abc' })
      .reply(200, { items: [agent], next_cursor: 'def' });
    const ran = await runCli(['agent', 'list', '--limit', '1', '--cursor', 'abc']);
    expect(ran.out).toMatch(/^ADDRESS +STATUS +RUNTIME +OWNER\nagent:\/\/alpha.test\/agents\/triage +active /);
    expect(ran.err).toContain('--cursor def');
  });

  it('are what the domain said, for programs', async () => {
    const answer = { items: [{ ...agent, later_member: 1 }], next_cursor: null };
    nock(testUrl).get('/admin/v1/agents').reply(200, answer);
    const ran = await runCli(['agent', 'list', '--json']);
    expect(JSON.parse(ran.out)).toEqual(answer);
    expect(ran.err).toBe('');
  });

  it('a name in a path can not reach another endpoint', async () => {
    nock(testUrl).post('/admin/v1/agents/..%2Fpeers%3Fx/pause').reply(200, agent);
    expect((await runCli(['agent', 'pause', '../peers?x'])).exitCode).toBe(0);
  });

  it('the fingerprint stands alone, for a shell to hand on', async () => {
    nock(testUrl).get('/admin/v1/domain').reply(200, { domain: 'alpha.test', fingerprint: 'abc-DEF_1' });
    expect((await runCli(['peer', 'fingerprint'])).out).toBe('abc-DEF_1\n');
  });
});

describe('what is sent', () => {
  it('creating an agent sends its runtime, grants and subscriptions', async () => {
    const body = {
      name: 'triage',
      runtime: { id: 'scripted', config: {} },
      attention: { when_active: 'steer' },
      grants: [
        { action: 'interaction.request', target: 'agent://beta.test/*' },
        { action: 'http.post', target: 'http://x/?a=b' },
      ],
      subscriptions: [{ type: 'github.*' }],
    };
    nock(testUrl).post('/admin/v1/agents', body).reply(201, { agent, recovery_key: 'once' });
    const grants = ['--grant', 'interaction.request=agent://beta.test/*', '--grant', 'http.post=http://x/?a=b'];
    const ran = await runCli([
      'agent',
      'create',
      'triage',
      '--when-active',
      'steer',
      '--subscribe',
      'github.*',
      ...grants,
    ]);
    expect(ran.err).toBe('');
    expect(ran.out).toContain('once');
  });

  it('a message carries the key it was given', async () => {
    const to = 'agent://beta.test/agents/reviewer';
    nock(testUrl, { reqheaders: { 'idempotency-key': 'k1' } })
      .post('/v1/messages', { to, type: 'message', conversation_id: 'conv_1', body: { text: 'hello' } })
      .reply(202, {
        effect_id: 'eff_1',
        status: 'succeeded',
        result: { message_id: 'msg_1', conversation_id: 'conv_1' },
      });
    const ran = await runCli(['send', to, 'hello', '--conversation', 'conv_1', '--idempotency-key', 'k1']);
    expect(ran).toMatchObject({ exitCode: 0, err: '' });
    expect(ran.out).toContain('msg_1');
  });

  it('a lifetime is sent in seconds', async () => {
    const credential = {
      id: 'cred_1',
      kind: 'person',
      address: 'human://alpha.test/users/ada',
      label: '',
      created_at: 'now',
    };
    nock(testUrl)
      .post('/admin/v1/credentials', { kind: 'person', principal: 'ada', expires_in_s: 2_592_000 })
      .reply(201, { credential, token: 'hearth_person_x' });
    const ran = await runCli(['credential', 'issue', '--kind', 'person', '--principal', 'ada', '--expires-in', '30d']);
    expect(ran.out).toContain('hearth_person_x');
  });
});
