// The command line against a whole domain: what a new operator and a new person would type, in that order.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';
import { type Ran, runCli } from './cli-world.js';

const greeter = 'agent://alpha.test/agents/greeter';
const ada = 'human://alpha.test/users/ada';

const script = {
  rules: [
    {
      when: { type: 'interaction.request' },
      steps: [
        propose('promise', 'interaction.accept', { accepts: 'proposal' }),
        propose('tell', 'interaction.report', { summary: 'Hello \u001b[31mAda', evidence: [] }),
        { complete: 'greeted' },
      ],
    },
  ],
};

let domain: TestDomain;
let adaToken = '';

beforeAll(async () => {
  domain = await startTestDomain();
});
afterAll(() => domain.stop());

function propose(id: string, action: string, input: object): object {
  return {
    propose: {
      id,
      action,
      target: ada,
      input: { ...input, commitment_id: { $ref: '/activation/data/commitment_id' } },
    },
  };
}

function as(token: string, ...args: string[]): Promise<Ran> {
  return runCli(args, { HEARTH_URL: domain.running.urls.api, HEARTH_TOKEN: token });
}

async function json(token: string, ...args: string[]) {
  const ran = await as(token, ...args, '--json');
  expect(ran).toMatchObject({ exitCode: 0, err: '' });
  return JSON.parse(ran.out);
}

/** Asks again until the answer holds; the test's own time limit ends it. */
async function until<Answer>(ask: () => Promise<Answer>, holds: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
  }
}

describe('a new operator', () => {
  it('makes a person and a token for it, which is shown once', async () => {
    expect((await as(domain.operatorToken, 'human', 'create', 'ada', '--display-name', 'Ada')).out).toContain(ada);
    const issued = await as(
      domain.operatorToken,
      'credential',
      'issue',
      '--kind',
      'person',
      '--principal',
      'ada',
      '--expires-in',
      '1h',
    );
    adaToken = /hearth_person_\S+/.exec(issued.out)?.[0] ?? '';
    expect(adaToken).not.toBe('');
    const listed = await as(domain.operatorToken, 'credential', 'list');
    expect(listed.out).toContain(ada);
    expect(listed.out).not.toContain(adaToken);
  });

  it('makes an agent for her from a file, pauses it and resumes it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'hearth-cli-')), 'greeter.json');
    writeFileSync(file, JSON.stringify(script));
    const grant = ['--grant', `interaction.*=${ada}`];
    const made = await as(
      domain.operatorToken,
      'agent',
      'create',
      'greeter',
      '--owner',
      'ada',
      '--runtime-config',
      file,
      ...grant,
    );
    expect(made).toMatchObject({ exitCode: 0, err: '' });
    expect(made.out).toContain(greeter);
    expect((await json(domain.operatorToken, 'agent', 'pause', 'greeter')).status).toBe('paused');
    expect((await json(domain.operatorToken, 'agent', 'resume', 'greeter')).status).toBe('active');
    expect(await as(domain.operatorToken, 'agent', 'subscribe', 'greeter', 'github.*')).toMatchObject({
      exitCode: 0,
      err: '',
    });
    expect((await as(adaToken, 'agent', 'list')).out).toContain(greeter);
  });

  it('makes a webhook source, and its secret is not in the list', async () => {
    const made = await json(domain.operatorToken, 'source', 'create', 'github', '--adapter', 'github');
    const listed = await as(domain.operatorToken, 'source', 'list');
    expect(listed.out).toContain(made.webhook.url);
    expect(listed.out).not.toContain(made.webhook.secret);
  });

  it('finds its own domain pinned, and its fingerprint to tell others', async () => {
    const fingerprint = (await as(domain.operatorToken, 'peer', 'fingerprint')).out.trim();
    expect(fingerprint).toBe(domain.running.fingerprint);
    expect((await as(domain.operatorToken, 'peer', 'show', 'alpha.test')).out).toContain(fingerprint);
  });
});

describe('a new person', () => {
  it('asks an agent for something, follows its run, and accepts the report: fulfilled', async () => {
    const body = '{"action": "greet", "subject": "the world"}';
    const sent = await json(adaToken, 'send', greeter, '--type', 'request', '--body', body);
    const commitment = sent.result.commitment_id;
    const runs = await until(
      () => json(adaToken, 'runs', 'list', '--agent', 'greeter'),
      ({ items }) => items.length > 0,
    );
    const followed = await as(adaToken, 'runs', 'events', runs.items[0].id, '--follow');
    expect(followed).toMatchObject({ exitCode: 0, err: expect.stringContaining('The run ended completed.') });
    expect(followed.out).toMatch(/^1 .*run\.started[\s\S]*run\.completed/);
    expect((await as(adaToken, 'runs', 'show', runs.items[0].id)).out).toContain('greeted');
    expect((await json(adaToken, 'runs', 'events', runs.items[0].id)).ended).toBe(true);

    const inbox = await until(
      () => as(adaToken, 'inbox'),
      ({ out }) => out.includes('report'),
    );
    // What the agent wrote moves no cursor and sets no colour.
    expect(inbox.out).toContain('Hello \\u001b[31mAda');
    const accept = JSON.stringify({ accepts: 'report', commitment_id: commitment });
    expect(await as(adaToken, 'send', greeter, '--type', 'accept', '--body', accept)).toMatchObject({
      exitCode: 0,
      err: '',
    });
    const shown = await as(adaToken, 'commitment', 'show', commitment);
    expect(shown.out).toMatch(/state here +fulfilled/);
    expect(shown.out).toMatch(/1 +request [\s\S]*2 +accept_proposal [\s\S]*3 +report [\s\S]*4 +accept_report /);
    await until(
      () => json(adaToken, 'commitment', 'list', '--agent', 'greeter'),
      ({ items }) => items[0]?.local_assessment === 'fulfilled',
    );
  });

  it('sending again under the same key sends nothing twice', async () => {
    const send = ['send', greeter, 'hello', '--idempotency-key', 'k1'];
    const first = await json(adaToken, ...send);
    expect((await json(adaToken, ...send)).result.message_id).toBe(first.result.message_id);
    const other = await as(adaToken, 'send', greeter, 'something else', '--idempotency-key', 'k1');
    expect(other).toMatchObject({ exitCode: 1, err: expect.stringContaining('idempotency_conflict') });
  });

  it('is told what to do about a domain that nobody pinned', async () => {
    const ran = await as(adaToken, 'send', 'agent://gamma.test/agents/x', 'hello');
    expect(ran).toMatchObject({ exitCode: 1, err: expect.stringContaining('hearth peer pin gamma.test') });
    expect(ran.err).toMatch(/Request id: \S+/);
  });

  it('is no operator, and after its token is revoked nobody', async () => {
    expect(await as(adaToken, 'human', 'create', 'eve')).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('(forbidden)'),
    });
    const { items } = await json(domain.operatorToken, 'credential', 'list');
    const id = items.find((item: { address: string }) => item.address === ada).id;
    expect(await as(domain.operatorToken, 'credential', 'revoke', id)).toMatchObject({ exitCode: 0, err: '' });
    expect(await as(adaToken, 'inbox')).toMatchObject({ exitCode: 1, err: expect.stringContaining('Check the token') });
  });
});

describe('an operator', () => {
  it('lists inputs and sessions, and lists and ends subscriptions and an agent', async () => {
    const token = domain.operatorToken;
    expect(await as(token, 'agent', 'subscribe', 'greeter', 'weather.*')).toMatchObject({ exitCode: 0, err: '' });
    const { items: standing } = await json(token, 'agent', 'subscriptions', 'greeter');
    const weather = standing.find((item: { type: string }) => item.type === 'weather.*');
    expect((await as(token, 'agent', 'unsubscribe', 'greeter', weather.id)).out).toContain('no more');
    expect(await as(token, 'agent', 'unsubscribe', 'greeter', weather.id)).toMatchObject({ exitCode: 1 });
    const { items: inputs } = await json(token, 'inputs', 'list', '--agent', 'greeter', '--disposition', 'ACTIVATE');
    expect((await as(token, 'inputs', 'show', inputs[0].id)).out).toMatch(/DECISION[\s\S]*ACTIVATE/);
    const { items: sessions } = await json(token, 'sessions', 'list', '--agent', 'greeter');
    expect((await as(token, 'sessions', 'show', sessions[0].id)).out).toMatch(/state +(idle|active|suspended)/);
    expect(await as(token, 'agent', 'end', 'greeter')).toMatchObject({ exitCode: 0, err: '' });
    expect((await as(token, 'agent', 'show', 'greeter')).out).toMatch(/status +ended/);
  });
});

describe('what was sent', () => {
  it('stands in the outbox as delivered', async () => {
    const { items } = await until(
      () => json(domain.operatorToken, 'outbox', '--peer', 'alpha.test'),
      (page) => page.items.every((item: { status: string }) => item.status === 'delivered'),
    );
    expect(items.length).toBeGreaterThanOrEqual(4);
    expect((await as(domain.operatorToken, 'outbox', '--status', 'queued')).out).toBe('Nothing to show.\n');
  });
});
