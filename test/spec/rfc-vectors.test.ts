/**
 * Published vectors of the RFCs that the protocol stands on: RFC 9421 Appendix B.2 (without B.2.2, whose @query-param the
 * profile does not have, and B.2.4, a response), RFC 7638 (for Ed25519: RFC 8037 A.3).
 */
import { createHmac } from 'node:crypto';
import { verifySignature as verifyMessage } from 'http-message-sig';
import { describe, expect, test } from 'vitest';
import { admitPublicKey, fromBase64url, keyPairFromSeed, signWith, thumbprint } from '../../src/protocol/index.js';

const DIGEST = 'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:';
const FIELDS = {
  host: 'example.com',
  date: 'Tue, 20 Apr 2021 02:07:55 GMT',
  'content-type': 'application/json',
  'content-digest': DIGEST,
  'content-length': '18',
};
const B25_SIGNATURE = 'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=';
const B26_SIGNATURE = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';

type Sample = { input: string; lines: string[]; algorithm: 'rsa-pss-sha512' | 'hmac-sha256' | 'ed25519' };

const SAMPLES: Record<string, Sample> = {
  'B.2.1, minimal': {
    algorithm: 'rsa-pss-sha512',
    input: '();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"',
    lines: [],
  },
  'B.2.3, full coverage': {
    algorithm: 'rsa-pss-sha512',
    input:
      '("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"',
    lines: [
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@method": POST',
      '"@path": /foo',
      '"@query": ?param=Value&Pet=dog',
      '"@authority": example.com',
      '"content-type": application/json',
      `"content-digest": ${DIGEST}`,
      '"content-length": 18',
    ],
  },
  'B.2.5, HMAC': {
    algorithm: 'hmac-sha256',
    input: '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"',
    lines: ['"date": Tue, 20 Apr 2021 02:07:55 GMT', '"@authority": example.com', '"content-type": application/json'],
  },
  'B.2.6, Ed25519': {
    algorithm: 'ed25519',
    input:
      '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    lines: [
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@method": POST',
      '"@path": /foo',
      '"@authority": example.com',
      '"content-type": application/json',
      '"content-length": 18',
    ],
  },
};

describe('RFC 9421 Appendix B.2', () => {
  test.each(Object.entries(SAMPLES))('%s: the signature base is the published one', async (_, sample) => {
    expect(Buffer.from(await baseOf(sample)).toString('utf8')).toBe(publishedBase(sample));
  });

  test('B.2.5: the base gives the published HMAC', () => {
    const secret = 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==';
    const made = createHmac('sha256', Buffer.from(secret, 'base64'))
      .update(publishedBase(sampleNamed('B.2.5, HMAC')))
      .digest('base64');
    expect(made).toBe(B25_SIGNATURE);
  });

  test('B.2.6: signing the base with our code gives the published signature', () => {
    const seed = fromBase64url('n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU');
    if (!seed) throw new TypeError('not a seed');
    const { privateKey, publicKey } = keyPairFromSeed(seed);
    expect(publicKey.jwk.x).toBe('JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs');
    const base = Buffer.from(publishedBase(sampleNamed('B.2.6, Ed25519')));
    expect(Buffer.from(signWith(privateKey, base)).toString('base64')).toBe(B26_SIGNATURE);
  });
});

test('RFC 7638, with the Ed25519 key of RFC 8037 A.3: the thumbprint is the published one, whatever else the JWK holds', () => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  expect(thumbprint(jwk)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  expect(admitPublicKey({ ...jwk, kid: 'another', alg: 'Ed25519', use: 'sig' }).thumbprint).toBe(thumbprint(jwk));
});

/** The bytes that the message library hands to a verifier for the sample request of the RFC. */
async function baseOf({ input, algorithm }: Sample): Promise<Uint8Array> {
  let base = new Uint8Array();
  const headers = { ...FIELDS, 'signature-input': `sig=${input}`, signature: 'sig=:AAAA:' };
  await verifyMessage(
    {
      kind: 'request',
      method: 'POST',
      targetUri: 'https://example.com/foo?param=Value&Pet=dog',
      fields: Object.entries(headers).map(([name, value]) => ({ name, value })),
    },
    {
      policy: { algorithms: [algorithm], requiredComponents: [], requiredParameters: ['created'], now: 1618884473 },
      resolveVerifier: () => ({
        algorithm,
        verify: (data) => {
          base = new Uint8Array(data);
          return true;
        },
      }),
    },
  );
  return base;
}

function publishedBase({ lines, input }: Sample): string {
  return [...lines, `"@signature-params": ${input}`].join('\n');
}

function sampleNamed(name: string): Sample {
  const sample = SAMPLES[name];
  if (!sample) throw new TypeError(name);
  return sample;
}
