import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCli, testToken, testUrl } from './cli-world.js';

beforeAll(() => nock.disableNetConnect());
afterEach(() => nock.cleanAll());
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

function problem(code: string, extra: object = {}): object {
  return {
    type: `urn:hearth:problem:${code}`,
    title: 'It was refused',
    status: 400,
    code,
    request_id: 'req-1',
    ...extra,
  };
}

describe('a command that is refused', () => {
  it('says why, what to do and the request id, and exits 1', async () => {
    const body = problem('conflict', { detail: 'the name is taken', action: 'Choose another name.' });
    nock(testUrl).post('/admin/v1/humans').reply(409, body, { 'content-type': 'application/problem+json' });
    const ran = await runCli(['human', 'create', 'ada']);
    expect(ran).toEqual({
      exitCode: 1,
      out: '',
      err: 'hearth: It was refused: the name is taken (conflict).\n  Choose another name.\n  Request id: req-1\n',
    });
  });

  it('for its token says which token to look at, and never shows it (BR-89)', async () => {
    nock(testUrl).get('/admin/v1/agents').reply(401, problem('unauthorized'));
    const ran = await runCli(['agent', 'list']);
    expect(ran.exitCode).toBe(1);
    expect(ran.err).toContain('HEARTH_TOKEN');
    expect(ran.err + ran.out).not.toContain(testToken);
  });

  it('for a time says how long to wait', async () => {
    nock(testUrl).get('/admin/v1/agents').reply(503, problem('draining'), { 'retry-after': '7' });
    const ran = await runCli(['agent', 'list']);
    expect(ran.exitCode).toBe(1);
    expect(ran.err).toContain('Try again in 7 s.');
  });

  it('by something that is no Hearth says so', async () => {
    nock(testUrl).get('/admin/v1/agents').reply(502, '<html>Bad gateway</html>');
    expect(await runCli(['agent', 'list'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('answered with status 502 and no reason'),
    });
    nock(testUrl).get('/admin/v1/agents').reply(200, '<html>Welcome</html>');
    expect(await runCli(['agent', 'list'])).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('not as a Hearth of this version does'),
    });
  });

  it('words of a stranger can not act on the terminal', async () => {
    nock(testUrl)
      .get('/admin/v1/agents')
      .reply(400, problem('schema_invalid', { detail: 'x\u001b]0;owned\u0007' }));
    expect((await runCli(['agent', 'list'])).err).not.toMatch(/\p{Cc}(?<!\n)/u);
  });
});

describe('a domain that can not be reached', () => {
  it('gives exit code 3 and the way to start one', async () => {
    nock(testUrl)
      .get('/admin/v1/agents')
      .replyWithError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    const ran = await runCli(['agent', 'list']);
    expect(ran.exitCode).toBe(3);
    expect(ran.err).toContain(`Nothing answers at ${testUrl} (ECONNREFUSED).`);
    expect(ran.err).toContain('hearth start');
    expect(ran.err).not.toContain(testToken);
  });

  it('while sending tells the key under which sending again is safe', async () => {
    nock(testUrl)
      .post('/v1/messages')
      .replyWithError(Object.assign(new Error('cut'), { code: 'ECONNRESET' }));
    const ran = await runCli(['send', 'agent://beta.test/agents/reviewer', 'hello']);
    expect(ran.exitCode).toBe(3);
    expect(ran.err).toMatch(/--idempotency-key cli-[0-9a-f]{32}/);
  });
});

describe('the token', () => {
  it('does not follow a redirect', async () => {
    nock(testUrl).get('/admin/v1/agents').reply(302, '', { location: 'http://127.0.0.1:9/elsewhere' });
    const elsewhere = nock('http://127.0.0.1:9').get('/elsewhere').reply(200, {});
    expect((await runCli(['agent', 'list'])).exitCode).toBe(1);
    expect(elsewhere.isDone()).toBe(false);
  });

  it('comes from the file that is named, without its line break', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'hearth-cli-')), 'token');
    writeFileSync(file, 'hearth_person_from-file\n');
    nock(testUrl, { reqheaders: { authorization: 'Bearer hearth_person_from-file' } })
      .get('/admin/v1/agents')
      .reply(200, { items: [], next_cursor: null });
    expect(await runCli(['--token-file', file, 'agent', 'list'], {})).toMatchObject({
      exitCode: 0,
      out: 'Nothing to show.\n',
    });
  });

  it('that is absent, unreadable or no token is a usage error that sends nothing', async () => {
    for (const [args, env] of [
      [[], {}],
      [['--token-file', '/nowhere/token'], {}],
      [[], { HEARTH_TOKEN: 'two lines\nof text' }],
    ] as const) {
      const ran = await runCli([...args, 'agent', 'list'], env);
      expect(ran.exitCode).toBe(2);
      expect(ran.err).not.toContain('of text');
    }
  });
});

describe('the URL', () => {
  it('comes from --url, then HEARTH_URL, and may have a path', async () => {
    const env = { HEARTH_TOKEN: testToken, HEARTH_URL: 'http://127.0.0.1:1' };
    nock('http://127.0.0.1:8080').get('/hearth/admin/v1/agents').reply(200, { items: [] });
    expect((await runCli(['agent', 'list', '--url', 'http://127.0.0.1:8080/hearth/'], env)).exitCode).toBe(0);
  });

  it('that is none is a usage error', async () => {
    for (const url of ['localhost:7421', 'ftp://x', 'http://user:pass@x', 'nonsense']) {
      expect((await runCli(['agent', 'list', '--url', url])).exitCode).toBe(2);
    }
  });
});
