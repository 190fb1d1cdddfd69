// Signed bodies that are no transaction (BR-88): each is refused as a whole with what to do, leaves nothing, and good traffic
// goes on.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toUtf8 } from '../../src/protocol/index.js';
import { signHostile, type WireRequest } from '../support/hostile-peer.js';
import {
  alpha,
  expectRefusal,
  goodMessageArrives,
  type HostileWorld,
  knock,
  openHostileWorld,
} from './hostile-world.js';

let world: HostileWorld;

beforeAll(async () => {
  world = await openHostileWorld();
});
afterEach(() => goodMessageArrives(world));
afterAll(() => world.close());

const expectRefused = (request: WireRequest, status: number, code: string) =>
  expectRefusal(world, request, { status, code, component: undefined });

describe('BR-88: signed bodies that are no transaction', () => {
  const frame = (member: string) =>
    `{"origin":"evil.test","destination":"alpha.test","incarnation":"i","certificates":[],"envelopes":[],"signals":[]${member}}`;
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const bodies: [string, string | Uint8Array, number, string][] = [
    ['null', 'null', 400, 'schema_invalid'],
    ['an array', '[]', 400, 'schema_invalid'],
    ['a string', '"x"', 400, 'schema_invalid'],
    ['nothing', '', 400, 'malformed_json'],
    ['half of it', '{"origin":"evil.te', 400, 'malformed_json'],
    ['a string for the list', frame('').replace('"envelopes":[]', '"envelopes":"[]"'), 400, 'schema_invalid'],
    ['null for the list', frame('').replace('"envelopes":[]', '"envelopes":null'), 400, 'schema_invalid'],
    [
      'an object for the list',
      frame('').replace('"certificates":[]', '"certificates":{"length":9}'),
      400,
      'schema_invalid',
    ],
    ['a member twice', frame(',"origin":"evil.test"'), 400, 'malformed_json'],
    ['a member twice, once escaped', frame(',"\\u006frigin":"friend.test"'), 400, 'malformed_json'],
    ['__proto__', frame(',"__proto__":{"origin":"friend.test"}'), 400, 'malformed_json'],
    ['depth 10,000', frame(`,"x":${deep(10_000)}`), 400, 'malformed_json'],
    ['depth 1,000,000', frame(`,"x":${deep(1_000_000)}`), 400, 'malformed_json'],
    ['a lone surrogate', frame(',"x":"\\ud800"'), 400, 'malformed_json'],
    [
      'a raw half of a surrogate pair',
      Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      400,
      'malformed_json',
    ],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d), 400, 'malformed_json'],
    ['a byte order mark', `\uFEFF${frame('')}`, 400, 'malformed_json'],
    ['NUL', frame(',"x":"\\u0000"'), 400, 'malformed_json'],
    ['an unsafe integer', frame(',"x":9007199254740993'), 400, 'malformed_json'],
    ['an endless number', frame(',"x":1e999'), 400, 'malformed_json'],
    ['a number of 3 MB', frame(`,"x":${'9'.repeat(3_000_000)}`), 400, 'malformed_json'],
    ['51 envelopes', frame('').replace('"envelopes":[]', `"envelopes":[${Array(51).fill('0')}]`), 413, 'too_large'],
    [
      'a million envelopes',
      frame('').replace('"envelopes":[]', `"envelopes":[${Array(1_000_000).fill('0')}]`),
      413,
      'too_large',
    ],
    [
      'a million signals',
      frame('').replace('"signals":[]', `"signals":[${Array(1_000_000).fill('0')}]`),
      413,
      'too_large',
    ],
    ['700,000 members', frame(`,${Array.from({ length: 300_000 }, (_, n) => `"${n}":0`).join()}`), 200, ''],
  ];
  it.each(bodies)('%s', async (_, body, status, code) => {
    const bytes = typeof body === 'string' ? toUtf8(body) : body;
    const request = await signHostile(world.evil, { to: alpha, body: bytes });
    if (status === 200) expect((await knock(world, request)).status).toBe(200);
    else await expectRefused(request, status, code);
  });

  it('a transaction id that is none is 400, and one byte over 4 MiB is 413', async () => {
    await expectRefused(
      await signHostile(world.evil, { to: alpha, body: toUtf8('{}'), id: 'txn_x' }),
      400,
      'schema_invalid',
    );
    const body = new Uint8Array(4 * 1024 * 1024 + 1);
    await expectRefused(await signHostile(world.evil, { to: alpha, body }), 413, 'too_large');
  });
});
