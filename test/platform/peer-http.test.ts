import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPublicAddress, type LookupAll } from '../../src/platform/address-guard.js';
import { createPeerHttp, PeerError, type PeerRequest, systemClock } from '../../src/platform/index.js';

const clock = systemClock();

const hostileHosts = [
  ...['127.0.0.1', '127.1', '0x7f.1', '2130706433', '0177.0.0.1', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.1.1'],
  ...['169.254.169.254', '100.64.0.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '[::1]', '[::]'],
  ...['[::7f00:1]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::a00:1]', '[2002:7f00:1::]', '[fe80::1]'],
  ...['[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[2001:db8::1]', 'localhost'],
];

function get(url: string, more: Partial<PeerRequest> = {}): PeerRequest {
  return { method: 'GET', url, headers: {}, maxBytes: 1_000, timeoutMs: 2_000, ...more };
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PeerError);
  return error instanceof PeerError ? `${error.reason} ${error.retryable ? 'retry' : 'final'}` : 'no PeerError';
}

/** A look-up that answers what it is told, one answer after the other. */
function lookupOf(...answers: string[][]): LookupAll & { asked: () => number } {
  let asked = 0;
  const lookup: LookupAll = (_hostname, _options, callback) => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(lookup, { asked: () => asked });
}

describe('the guard of outbound requests', () => {
  const http = createPeerHttp({ resolve: new Map(), clock });
  afterAll(() => http.close());

  it.each(hostileHosts)('opens no connection to %s (BR-85)', async (host) => {
    expect(await faultOf(http.request(get(`https://${host}/`)))).toBe('address_blocked final');
  });

  it('judges addresses by their range, mapped ones by what they map', () => {
    expect(['93.184.216.34', '2606:4700::1111', '::ffff:93.184.216.34'].map(isPublicAddress)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['::7f00:1', '2001::1', '64:ff9b::5db8:d822', 'no address', ''].filter(isPublicAddress)).toEqual([]);
  });

  it('refuses a name when any of its addresses is private', async () => {
    const guarded = createPeerHttp({ resolve: new Map(), clock, lookup: lookupOf(['93.184.216.34', '10.0.0.1']) });
    expect(await faultOf(guarded.request(get('https://peer.example.com/')))).toBe('address_blocked final');
    await guarded.close();
  });

  it('looks a name up once for a connection, so a second answer can not replace the checked one', async () => {
    const lookup = lookupOf(['192.0.0.8'], ['93.184.216.34']);
    const guarded = createPeerHttp({ resolve: new Map(), clock, lookup });
    expect(await faultOf(guarded.request(get('https://peer.example.com/')))).toBe('address_blocked final');
    expect(lookup.asked()).toBe(1);
    await guarded.close();
  });

  it.each([
    ['http://peer.example.com/', 'not_https final'],
    ['ftp://peer.example.com/', 'not_https final'],
    ['file:///etc/passwd', 'not_https final'],
    ['https://user:pw@peer.example.com/', 'bad_url final'],
    ['nonsense', 'bad_url final'],
  ])('refuses %s', async (url, fault) => {
    expect(await faultOf(http.request(get(url)))).toBe(fault);
  });
});

describe('an outbound request', () => {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  let origin = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', origin);
    if (pathname === '/redirect') response.writeHead(302, { location: `${origin}/` }).end();
    else if (pathname === '/sized') response.writeHead(200, { 'content-length': '1001' }).end(Buffer.alloc(1_001));
    else if (pathname === '/limit') response.end(Buffer.alloc(1_000));
    else if (pathname === '/endless') endless(response.on('error', () => undefined));
    else if (pathname === '/encoded') response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
    else if (pathname === '/slow') response.writeHead(200).write('first');
    else if (pathname === '/cut')
      response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy());
    else if (pathname === '/silent') request.resume();
    else response.writeHead(201, { 'x-two': ['a', 'b'] }).end(`${request.method} ${request.url}`);
  }

  function endless(response: ServerResponse): void {
    response.write(Buffer.alloc(600), () => !response.destroyed && endless(response));
  }

  it('reaches a mapped domain: dialled elsewhere, called by its own name', async () => {
    const http = createPeerHttp({ resolve: new Map([['beta.test', origin]]), clock });
    const body = new TextEncoder().encode('{}');
    const url = 'https://beta.test/federation/v1/transactions/1?a=%2F';
    const response = await http.request(
      get(url, { method: 'PUT', body, headers: { 'content-type': 'application/json' } }),
    );
    expect(response).toMatchObject({ status: 201, headers: { 'x-two': 'a, b' } });
    expect(new TextDecoder().decode(response.body)).toBe('PUT /federation/v1/transactions/1?a=%2F');
    expect(seen.at(-1)?.headers).toMatchObject({
      host: 'beta.test',
      'content-type': 'application/json',
      'content-length': '2',
    });
    await http.close();
  });

  it('reaches a private origin only when the operator allowed exactly this one', async () => {
    const http = createPeerHttp({ resolve: new Map(), clock, allowOrigins: [origin] });
    expect((await http.request(get(`${origin}/x`))).status).toBe(201);
    expect(await faultOf(http.request(get('http://127.0.0.1:1/')))).toBe('not_https final');
    expect(await faultOf(http.request(get(origin.replace('http:', 'https:'))))).toBe('address_blocked final');
    await http.close();
  });

  it.each([
    ['/redirect', 'redirected final'],
    ['/sized', 'answer_too_large final'],
    ['/endless', 'answer_too_large final'],
    ['/encoded', 'answer_encoded final'],
    ['/slow', 'timed_out retry'],
    ['/silent', 'timed_out retry'],
    ['/cut', 'unreachable retry'],
  ])('fails on %s as %s and follows nothing', async (path, fault) => {
    const http = createPeerHttp({ resolve: new Map(), clock, allowOrigins: [origin] });
    const before = seen.length;
    expect(
      await faultOf(http.request(get(`${origin}${path}`, { timeoutMs: fault.startsWith('timed_out') ? 300 : 10_000 }))),
    ).toBe(fault);
    expect(seen.length).toBe(before + 1);
    await http.close();
  });

  it('takes an answer of exactly the limit', async () => {
    const http = createPeerHttp({ resolve: new Map(), clock, allowOrigins: [origin] });
    expect((await http.request(get(`${origin}/limit`))).body.byteLength).toBe(1_000);
    await http.close();
  });

  it('can be called off, and a shut door is worth another try', async () => {
    const http = createPeerHttp({
      resolve: new Map([['gone.test', 'http://127.0.0.1:1']]),
      clock,
      allowOrigins: [origin],
    });
    const controller = new AbortController();
    const called = faultOf(http.request(get(`${origin}/silent`, { signal: controller.signal })));
    controller.abort();
    expect(await called).toBe('aborted retry');
    expect(await faultOf(http.request(get('https://gone.test/')))).toBe('unreachable retry');
    await http.close();
  });
});
