// BR-85: no URL that somebody else wrote leads inside. Every way in which one reaches the outbound client is tried, and the
// inner server that must not be reached counts what reaches it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/platform/address-guard.js';
import { createPeerHttp, systemClock } from '../../src/platform/index.js';
import { DISCOVERY_PATH, describeDomain } from '../../src/protocol/index.js';
import { sealHostile } from '../support/hostile-peer.js';
import { bob, deliver, type HostileWorld, openHostileWorld } from './hostile-world.js';

let inner: Server;
let port = 0;
let reached = 0;

beforeAll(async () => {
  inner = createServer((_, response) => {
    reached += 1;
    response.end('{}');
  });
  inner.on('connection', () => {
    reached += 1;
  });
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  port = (inner.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => inner.close(resolve)));

const spellings = [
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  '10.0.0.1',
  '169.254.169.254',
  '[::ffff:10.0.0.1]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '[fec0::1]',
  '100.64.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.2.1',
  '[2001:db8::1]',
  '[100::1]',
  '[2001::1]',
  '①②⑦.⓪.⓪.①',
];

describe('the outbound client', () => {
  const http = createPeerHttp({ resolve: new Map(), clock: systemClock() });
  afterAll(() => http.close());

  it.each(spellings)('https://%s is not connected to', async (host) => {
    const attempt = http.request({
      method: 'GET',
      url: `https://${host}:${port}/`,
      headers: {},
      maxBytes: 10,
      timeoutMs: 2_000,
    });
    await expect(attempt).rejects.toMatchObject({ reason: 'address_blocked', retryable: false });
    expect(reached).toBe(0);
  });

  it.each([
    ['http://example.com/', 'not_https'],
    ['ftp://example.com/', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['https://user:pass@example.com/', 'bad_url'],
    ['//example.com', 'bad_url'],
    ['https://', 'bad_url'],
  ])('%s is refused as %s', async (url, reason) => {
    await expect(
      http.request({ method: 'GET', url, headers: {}, maxBytes: 10, timeoutMs: 2_000 }),
    ).rejects.toMatchObject({ reason });
  });

  it('a name that has one inner address among good ones, or another at the second look-up, is not connected to', async () => {
    let looks = 0;
    const answers = [
      [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      [{ address: '127.0.0.1', family: 4 }],
      [{ address: '::1', family: 6 }],
    ];
    const rebinding = createPeerHttp({
      resolve: new Map(),
      clock: systemClock(),
      lookup: (_host, _options, callback) => {
        callback(null, answers[looks % answers.length] ?? []);
        looks += 1;
      },
    });
    for (let n = 0; n < 3; n += 1) {
      const attempt = rebinding.request({
        method: 'GET',
        url: `https://rebind.example:${port}/`,
        headers: {},
        maxBytes: 10,
        timeoutMs: 2_000,
      });
      await expect(attempt).rejects.toMatchObject({ reason: 'address_blocked' });
    }
    expect([looks, reached]).toEqual([3, 0]);
    await rebinding.close();
  });

  it.each([
    '0.1.2.3',
    '5f00::1',
    '3fff::1',
    '192.0.0.8',
    '192.88.99.1',
    '198.51.100.1',
    '203.0.113.1',
    '2001:2::1',
    '2001:10::1',
    '64:ff9b:1::1',
    'ff02::1',
    '2620:4f:8000::1',
    'fe80::1%eth0',
    'not an address',
    '',
  ])('the special-purpose %s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

describe('what a peer or an agent names', () => {
  let world: HostileWorld;
  beforeAll(async () => {
    world = await openHostileWorld();
  });
  afterAll(() => world.close());

  it.each(spellings)('a discovery document whose gateway is https://%s leads nowhere', async (host) => {
    const { stranger } = world;
    const gateway = `https://${host}:${port}`;
    const facts = {
      domain: stranger.domain,
      gateway: 'https://stranger.test',
      first_contact: 'quarantine',
      software: 'x',
      contact: '',
    } as const;
    const document = { ...describeDomain(facts), gateway };
    stranger.answer = ({ path }) =>
      path === DISCOVERY_PATH ? { status: 200, body: JSON.stringify(document) } : undefined;
    const answer = await deliver(world, {
      peer: stranger,
      envelopes: [await sealHostile(stranger, { from: world.sid, to: [bob] })],
    });
    expect([answer.status, answer.code]).toEqual([401, 'unknown_origin']);
    world.domain.running.layers.gateway.peers.silent.clear();
    expect(reached).toBe(0);
  });

  it('a redirect inside is not followed', async () => {
    const { stranger } = world;
    stranger.answer = ({ path }) =>
      path === DISCOVERY_PATH ? { status: 302, headers: { location: `http://127.0.0.1:${port}/` } } : undefined;
    const answer = await deliver(world, { peer: stranger, envelopes: [] });
    expect(answer.code).toBe('unknown_origin');
    expect(reached).toBe(0);
  });

  it('a body_ref is never fetched', async () => {
    const envelope = await sealHostile(world.evil, {
      from: world.eve,
      to: [bob],
      draft: { body_ref: `object://127.0.0.1:${port}/x` },
    });
    const { body: _gone, ...wire } = envelope;
    const { results } = await deliver(world, { peer: world.evil, envelopes: [wire] });
    expect(results[0]?.code).toBe('body_missing');
    expect(reached).toBe(0);
  });

  it.each(['127.0.0.1', 'localhost', '10.0.0.1', 'a.localhost', '127.0.0.1.', 'evil.test:80'])(
    'the domain name %s is none, or leads nowhere',
    async (name) => {
      const answer = await world.domain.api('POST', '/admin/v1/peers', {
        body: { domain: name, fingerprint: world.evil.fingerprint },
      });
      expect(answer.status === 400 || JSON.stringify(answer.body.look).includes('"ok":false')).toBe(true);
      expect(reached).toBe(0);
    },
  );

  it.each(['http://127.0.0.1', 'https://127.0.0.1', 'https://localhost', 'https://[::1]'])(
    'an HTTP effect of an agent to %s is not sent',
    async (origin) => {
      const script = {
        rules: [
          {
            when: { type: 'go.*' },
            steps: [
              { propose: { id: 'p', action: 'http.post', target: `${origin}:${port}/x`, input: {} } },
              { complete: 1 },
            ],
          },
        ],
      };
      const name = `caller${spellings.length}${origin.length}${origin.charCodeAt(8)}`;
      await world.domain.api('POST', '/admin/v1/agents', {
        body: {
          name,
          owner: 'hana',
          runtime: { id: 'scripted', config: script },
          grants: [{ action: 'http.post', target: '*' }],
        },
      });
      const sent = await world.domain.api('POST', '/v1/inputs', {
        body: { kind: 'command', type: 'go.now', source_event_id: name, target: { agent: name } },
      });
      expect(sent.status).toBe(202);
      const over = async () => JSON.stringify((await world.domain.api('GET', `/v1/runs?agent=${name}`)).body);
      await expect.poll(over, { timeout: 10_000 }).toMatch(/"status":"(completed|failed)"/);
      expect(reached).toBe(0);
    },
  );
});
