// What the target says of itself to everybody: its discovery document and its bundle.
import { found, holds, same } from '../expect.js';
import { keysOf } from '../peer/target.js';
import type { Scenario } from '../scenario.js';
import { canonicalJson } from '../wire/canonical-json.js';
import { fromBase64url, isInstant } from '../wire/encoding.js';
import { listOf, memberOf, textOf } from '../wire/json.js';
import { jwsFault, type ReadJws, readJws } from '../wire/jws.js';
import { thumbprintOf } from '../wire/keys.js';

const domainPattern =
  /^(?=.{1,230}$)(?!.*\.[0-9]+$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const selfDescription: Scenario = {
  name: 'self-description',
  about: 'the discovery document and the bundle are as the specification has them',
  needs: [],
  checks: [
    ...['DISCOVERY-1', 'DISCOVERY-3', 'DISCOVERY-4', 'DISCOVERY-5', 'DISCOVERY-6', 'NAMES-1', 'ENCODING-12'],
    ...['KEYS-1', 'KEYS-2', 'KEYS-7', 'KEYS-8', 'KEYS-9', 'KEYS-17', 'KEYS-18', 'KEYS-19', 'KEYS-20'],
    ...['ENCODING-1', 'ENCODING-7', 'ENCODING-8', 'ENCODING-10'],
  ],
  async run({ target }, { check }) {
    const { discovery } = target;
    const document = await target.get('/.well-known/agent-federation');
    await check('DISCOVERY-1', 'the document has every member, of its form, and is not too long', () => {
      same(document.status, 200, 'the status');
      holds(document.bytes.byteLength <= 51_200, `it has ${document.bytes.byteLength} bytes`);
      same(textOf(discovery, 'schema_version'), 'agent-federation/1', 'schema_version');
      same(textOf(discovery, 'domain'), target.domain, 'domain');
      holds(['quarantine', 'invitation'].includes(textOf(discovery, 'first_contact')), 'first_contact is neither');
      for (const name of ['software', 'contact']) {
        same(typeof memberOf(discovery, name), 'string', `the type of ${name}`);
      }
    });
    await check('NAMES-1', 'the domain is a domain name in its one spelling', () =>
      holds(domainPattern.test(target.domain), `${target.domain} is not`),
    );
    await check('ENCODING-1', 'the document is UTF-8 without byte order mark', () => {
      new TextDecoder('utf-8', { fatal: true }).decode(document.bytes);
      holds(document.bytes[0] !== 0xef, 'it begins with a byte order mark');
    });
    await check('ENCODING-12', 'software and contact are short', () => {
      for (const name of ['software', 'contact']) {
        holds(textOf(discovery, name).length <= 512, `${name} has ${textOf(discovery, name).length} characters`);
      }
    });
    await check('DISCOVERY-3', 'gateway, bundle and directory are plain https URLs', () => {
      for (const name of ['gateway', 'bundle', 'directory']) {
        const url = textOf(discovery, name);
        holds(/^https:\/\/[^/?#@\s\\]+(\/[^?#\s\\]*[^/?#\s\\])?$/.test(url), `${name} is ${url}`);
      }
    });
    await check('DISCOVERY-4', 'bundle and directory are at their places and answer there', async () => {
      same(textOf(discovery, 'bundle'), `${target.gateway}/federation/v1/bundle`, 'bundle');
      same(textOf(discovery, 'directory'), `${target.gateway}/federation/v1/directory`, 'directory');
      for (const name of ['bundle', 'directory']) {
        const reply = await target.get(`/federation/v1/${name}`);
        same(reply.status, 200, `the status of the ${name}`);
      }
    });
    await check('DISCOVERY-5', 'rfc9421 is among request_signatures', () =>
      holds(listOf(discovery, 'request_signatures').includes('rfc9421'), 'it is not'),
    );
    await check('DISCOVERY-6', 'the limits are there and within those of the protocol', () => {
      for (const [name, most] of Object.entries(mostOf)) {
        const value = memberOf(discovery, 'limits', name);
        holds(Number.isInteger(value) && Number(value) > 0 && Number(value) <= most, `${name} is ${value}`);
      }
    });
    await bundleChecks(await target.get('/federation/v1/bundle'), { domain: target.domain, check });
    await check('KEYS-9', 'first_kid stays the same from one look to the next', async () => {
      const again = await target.get('/federation/v1/bundle');
      same(textOf(payloadIn(again.json), 'first_kid'), textOf(target.bundle, 'first_kid'), 'first_kid');
    });
  },
};

const mostOf = {
  envelope_bytes: 65_536,
  transaction_envelopes: 50,
  transaction_bytes: 4_194_304,
  transactions_in_flight: 64,
  clock_skew_s: 300,
};

type Reply = { bytes: Buffer; json: unknown };
type Judge = { domain: string; check: Parameters<Scenario['run']>[1]['check'] };

async function bundleChecks({ bytes, json }: Reply, { domain, check }: Judge): Promise<void> {
  const payload = payloadIn(json);
  const keys = listOf(payload, 'keys');
  const all = [...keys, ...listOf(payload, 'retired_keys')];
  await check('KEYS-1', 'every key is an Ed25519 JWK', () => {
    holds(all.length > 0, 'there is no key');
    for (const key of all) {
      same(`${textOf(key, 'kty')} ${textOf(key, 'crv')}`, 'OKP Ed25519', 'kty and crv');
      same(fromBase64url(textOf(key, 'x'))?.byteLength, 32, 'the length of x');
      same(memberOf(key, 'd'), undefined, 'd');
    }
  });
  await check('KEYS-2', 'the kid of every key is its thumbprint', () => {
    for (const key of all) same(textOf(key, 'kid'), thumbprintOf(textOf(key, 'x')), 'kid');
  });
  await check('KEYS-7', 'the bundle is a JWS with alg Ed25519, typ bundle+jwt and a kid', () => {
    const headers = signaturesIn(json).map((jws) => jws?.header);
    holds(headers.length > 0, 'it has no signatures');
    for (const header of headers) {
      same(textOf(header, 'alg'), 'Ed25519', 'alg');
      same(textOf(header, 'typ'), 'bundle+jwt', 'typ');
      holds(textOf(header, 'kid') !== '', 'kid is missing');
      same(memberOf(header, 'crit'), undefined, 'crit');
    }
  });
  await check('KEYS-8', 'every current key has signed the bundle', () => {
    const signed = signaturesIn(json).filter((jws) => jwsFault(jws, 'bundle+jwt', keysOf(payload)) === undefined);
    for (const key of keys) {
      const kid = textOf(key, 'kid');
      found(
        signed.find((jws) => textOf(jws?.header, 'kid') === kid),
        `${kid} has not signed it`,
      );
    }
  });
  await check('KEYS-9', 'first_kid has signed the bundle and stands for the domain', () => {
    same(textOf(payload, 'domain'), domain, 'domain');
    const first = textOf(payload, 'first_kid');
    found(
      signaturesIn(json).find((jws) => textOf(jws?.header, 'kid') === first),
      `${first} has not signed it`,
    );
  });
  await bundleContent({ bytes, json }, { domain, check });
}

async function bundleContent({ bytes, json }: Reply, { check }: Judge): Promise<void> {
  const payload = payloadIn(json);
  const keys = listOf(payload, 'keys');
  const all = [...keys, ...listOf(payload, 'retired_keys')];
  await check('KEYS-17', 'it is valid for seven days at most', () =>
    holds(lifetimeMs(payload) <= 604_800_000, 'longer'),
  );
  await check('KEYS-18', 'it is valid for a day', () => same(lifetimeMs(payload), 86_400_000, 'the lifetime in ms'));
  await check('KEYS-19', 'it keeps the limits of a bundle', () => {
    holds(bytes.byteLength <= 262_144, `it has ${bytes.byteLength} bytes`);
    holds(keys.length <= 16, `it has ${keys.length} keys`);
    holds(listOf(payload, 'retired_keys').length <= 256 && listOf(payload, 'revoked').length <= 1024, 'it is too long');
  });
  await check('KEYS-20', 'each key is named once and none is current and revoked', () => {
    const kids = all.map((key) => textOf(key, 'kid'));
    same(new Set(kids).size, kids.length, 'the number of different kids');
    const revoked = listOf(payload, 'revoked').map((entry) => textOf(entry, 'subject'));
    holds(!keys.some((key) => revoked.includes(textOf(key, 'kid'))), 'a current key is revoked');
  });
  await check('ENCODING-7', 'the payload of the bundle is canonical JSON', () =>
    same(signaturesIn(json)[0]?.payloadText, canonicalJson(payload), 'the payload'),
  );
  await check('ENCODING-8', 'issued_at and valid_until are instants', () => {
    for (const name of ['issued_at', 'valid_until']) {
      holds(isInstant(memberOf(payload, name)), `${name} is ${memberOf(payload, name)}`);
    }
  });
  await check('ENCODING-10', 'payload, headers and signatures are base64url without padding', () => {
    found(fromBase64url(textOf(json, 'payload')), 'the payload is not');
    for (const entry of listOf(json, 'signatures')) {
      found(fromBase64url(textOf(entry, 'protected')), 'a header is not');
      found(fromBase64url(textOf(entry, 'signature')), 'a signature is not');
    }
  });
}

function signaturesIn(json: unknown): (ReadJws | undefined)[] {
  return listOf(json, 'signatures').map((entry) =>
    readJws(textOf(entry, 'protected'), textOf(json, 'payload'), textOf(entry, 'signature')),
  );
}

function payloadIn(json: unknown): unknown {
  return readJws('', textOf(json, 'payload'), '')?.payload;
}

function lifetimeMs(payload: unknown): number {
  return Date.parse(textOf(payload, 'valid_until')) - Date.parse(textOf(payload, 'issued_at'));
}
