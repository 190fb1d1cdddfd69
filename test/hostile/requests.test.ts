// Requests between domains that are not what they say: unsigned, half signed, swapped, replayed, of another origin. All are
// refused as a whole, leave nothing, and good traffic goes on.
import { createSignature } from 'http-message-sig';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contentDigestHeader, domainKeyRef, toBase64url, toNumericDate, toUtf8 } from '../../src/protocol/index.js';
import { newKey, signHostile, transactionId, type WireRequest } from '../support/hostile-peer.js';
import {
  alpha,
  deliver,
  expectRefusal,
  fromEve,
  goodMessageArrives,
  type HostileWorld,
  hana,
  knock,
  openHostileWorld,
  signDelivery,
} from './hostile-world.js';

let world: HostileWorld;

beforeAll(async () => {
  world = await openHostileWorld();
});
afterEach(() => goodMessageArrives(world));
afterAll(() => world.close());

const signed = async () => signDelivery(world, { peer: world.evil, envelopes: [await fromEve(world, { to: [hana] })] });

const expectRefused = (request: WireRequest, status: number, code: string, component?: string) =>
  expectRefusal(world, request, { status, code, component });

const without = (request: WireRequest, name: string): WireRequest => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).filter(([key]) => key !== name)),
});
const withHeader = (request: WireRequest, name: string, value: string): WireRequest => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** Signed like a real one, over other components or with other parameters. */
async function signedOtherwise({
  components,
  parameters = {},
}: {
  components?: readonly string[];
  parameters?: Record<string, string | number | undefined>;
}): Promise<WireRequest> {
  const request = await signed();
  const created = toNumericDate(world.evil.now());
  const all = ['@method', '@target-uri', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'];
  const whole: Record<string, string | number | undefined> = {
    created,
    expires: created + 300,
    nonce: toBase64url(crypto.getRandomValues(new Uint8Array(18))),
    keyid: domainKeyRef(world.evil.domain, world.evil.key.kid),
    alg: 'ed25519',
    tag: 'agent-federation/1',
    ...parameters,
  };
  for (const name of Object.keys(whole)) if (whole[name] === undefined) delete whole[name];
  const covered = Object.entries(request.headers).filter(([name]) => !name.startsWith('signature'));
  const fields = await createSignature(
    {
      kind: 'request',
      method: 'PUT',
      targetUri: `https://${alpha}${request.path}`,
      fields: covered.map(([name, value]) => ({ name, value })),
    },
    {
      label: 'fed',
      components: [...(components ?? all)],
      parameters: whole,
      signer: { algorithm: 'ed25519', sign: world.evil.key.sign },
    },
  );
  return {
    ...request,
    headers: { ...request.headers, 'signature-input': fields.signatureInput, signature: fields.signature },
  };
}

it('a request put together by the same hands and unchanged is accepted, so that what follows fails for its own reason', async () => {
  expect((await knock(world, await signed())).results[0]?.result).toBe('accepted');
  expect((await knock(world, await signedOtherwise({}))).results[0]?.result).toBe('accepted');
});

describe('BR-08: the signature holds, the body is another', () => {
  it('one byte of the body changed, all headers kept, is 401', async () => {
    const request = await signed();
    const body = Uint8Array.from(request.body);
    body[body.length - 2] = (body[body.length - 2] ?? 0) ^ 1;
    await expectRefused({ ...request, body }, 401, 'digest_mismatch', 'content-digest');
    await expectRefused({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }, 401, 'digest_mismatch');
  });

  it('another body with its own right digest is 401: the digest is signed', async () => {
    const request = await signed();
    const body = toUtf8('{}');
    const swapped = withHeader({ ...request, body }, 'content-digest', contentDigestHeader(body));
    await expectRefused(swapped, 401, 'signature_invalid', 'signature');
  });

  it.each(['@method', '@target-uri', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'])(
    'a signature that leaves %s out is 401',
    async (left) => {
      const all = ['@method', '@target-uri', 'content-digest', 'content-type', 'fed-origin', 'fed-destination'];
      const request = await signedOtherwise({ components: all.filter((name) => name !== left) });
      await expectRefused(request, 401, 'signature_invalid');
    },
  );

  it('a digest of a weak or unknown algorithm, twice, or missing is 401', async () => {
    const request = await signed();
    await expectRefused(without(request, 'content-digest'), 401, 'signature_invalid', 'content-digest');
    for (const field of [
      'md5=:AAAA:',
      'sha-256=:AAAA:',
      '',
      `${request.headers['content-digest']}, ${request.headers['content-digest']}`,
    ]) {
      await expectRefused(withHeader(request, 'content-digest', field), 401, 'digest_mismatch');
    }
  });

  it.each(['signature', 'signature-input', 'fed-origin'])('without %s it is 401', async (name) => {
    await expectRefused(without(await signed(), name), 401, 'signature_invalid', name);
  });

  it('another path, query or method than was signed is 401', async () => {
    const request = await signed();
    await expectRefused(
      { ...request, path: `/federation/v1/transactions/${transactionId(world.evil)}` },
      401,
      'signature_invalid',
    );
    await expectRefused({ ...request, path: `${request.path}?x=1` }, 401, 'signature_invalid');
  });
});

describe('BR-09: a key of an unrelated domain signs for anyone', () => {
  it('as the origin of another, with the other’s key reference or its own, is 401', async () => {
    const { friend, evil } = world;
    const body = (await signed()).body;
    const forged = { to: alpha, body, origin: friend.domain, by: evil.key };
    for (const keyRef of [
      domainKeyRef(friend.domain, evil.key.kid),
      domainKeyRef(friend.domain, friend.key.kid),
      domainKeyRef(evil.domain, evil.key.kid),
    ]) {
      await expectRefused(await signHostile(evil, { ...forged, keyRef }), 401, 'signature_invalid');
    }
  });

  it('a frame that names another origin than the request is refused', async () => {
    const request = await signDelivery(world, { peer: world.evil, envelopes: [], frame: { origin: 'friend.test' } });
    await expectRefused(request, 400, 'schema_invalid');
  });

  it('a key that the origin does not publish is 401, whatever the message says about keys', async () => {
    const by = newKey();
    const { evil } = world;
    await expectRefused(
      await signHostile(evil, { to: alpha, body: (await signed()).body, by }),
      401,
      'signature_invalid',
    );
  });
});

describe('BR-10: times and replays', () => {
  it('the same request again is 401 replayed, in its window and after it', async () => {
    const request = await signed();
    expect((await knock(world, request)).status).toBe(200);
    await expectRefused(request, 401, 'replayed');
    await world.dial(301_000);
    await expectRefused(request, 401, 'signature_invalid', 'expires');
    await world.dial(3_600_000);
    await expectRefused(request, 401, 'signature_invalid');
  });

  it('created ahead of the clock, a window longer than 300 s, an expired or empty one is 401', async () => {
    const now = toNumericDate(world.evil.now());
    for (const times of [
      { created: now + 400, expires: now + 600 },
      { created: now, expires: now + 301 },
      { created: now - 600, expires: now - 301 },
      { created: now, expires: now },
      { created: now + 63_072_000, expires: now + 63_072_300 },
    ]) {
      await expectRefused(await signedOtherwise({ parameters: times }), 401, 'signature_invalid');
    }
  });

  it.each(['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'])('a signature without %s is 401', async (name) => {
    await expectRefused(await signedOtherwise({ parameters: { [name]: undefined } }), 401, 'signature_invalid');
  });

  it('a short nonce, another tag or another algorithm is 401', async () => {
    for (const parameters of [
      { nonce: 'AAAA' },
      { nonce: 'not base64!' },
      { tag: 'agent-federation/2' },
      { tag: 'x' },
    ]) {
      await expectRefused(await signedOtherwise({ parameters }), 401, 'signature_invalid');
    }
  });

  it('for another destination is 421', async () => {
    const request = await signHostile(world.evil, {
      to: alpha,
      body: (await signed()).body,
      destination: world.friend.domain,
    });
    await expectRefused(request, 421, 'wrong_destination', 'fed-destination');
    await expectRefused(
      await signDelivery(world, { peer: world.evil, envelopes: [], frame: { destination: 'friend.test' } }),
      421,
      'wrong_destination',
    );
  });

  it('an id used again for another body is 409, and the first answer stands', async () => {
    const id = transactionId(world.evil);
    const envelopes = [await fromEve(world, { to: [hana] })];
    const certificates: string[] = [];
    const first = await deliver(world, { peer: world.evil, envelopes, certificates, id });
    const other = await deliver(world, {
      peer: world.evil,
      envelopes: [await fromEve(world, { to: [hana] })],
      certificates,
      id,
    });
    expect([other.status, other.code]).toEqual([409, 'transaction_conflict']);
    expect((await deliver(world, { peer: world.evil, envelopes, certificates, id })).results).toEqual(first.results);
  });
});
