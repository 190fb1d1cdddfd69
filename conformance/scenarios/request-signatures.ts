// Requests between domains: what the one signature has to cover and say, one fault at a time.
import { holds, refused, same } from '../expect.js';
import type { PlayedDomain, PutTransaction } from '../peer/played-domain.js';
import type { Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { base64url, contentDigestOf } from '../wire/encoding.js';
import { getComponents, nowInSeconds, putComponents } from '../wire/http-signature.js';
import { malleated } from '../wire/keys.js';
import { problemDocument } from './open-door.js';

interface Fault {
  readonly id: string;
  readonly what: string;
  readonly put: PutTransaction;
  readonly status?: number;
  readonly code?: string;
}

export const requestSignatures: Scenario = {
  name: 'request-signatures',
  about: 'a signature of the profile is taken, and every fault in one is refused',
  needs: ['reachable'],
  checks: [
    ...Array.from({ length: 8 }, (_, index) => `REQUESTS-${index + 1}`),
    ...['REQUESTS-10', 'REQUESTS-11', 'REQUESTS-12', 'REQUESTS-13', 'REQUESTS-14', 'REQUESTS-15', 'REQUESTS-16'],
    ...['KEYS-5', 'KEYS-26', 'NAMES-3'],
  ],
  async run(stage, { check }) {
    const { peer } = stage;
    await check('REQUESTS-2', 'a request as the profile has it is taken', async () =>
      same((await peer.put()).status, 200, 'the status'),
    );
    await check('REQUESTS-12', 'the advertised gateway is what the signature covers, whatever was dialled', async () =>
      same((await peer.put()).status, 200, 'the status'),
    );
    for (const { id, what, put, status, code } of faultsOf(stage)) {
      await check(id, what, async () => refused(await peer.put(put), status ?? 401, code));
    }
    await check('REQUESTS-16', 'the refusal of a signed request is a problem document', async () =>
      problemDocument(await peer.put({ fault: { parameters: { nonce: 'AAAA' } } })),
    );
    await check('REQUESTS-8', 'the same signed request a second time is refused', () => replay(peer));
    await getChecks(peer, check);
  },
};

async function replay(peer: PlayedDomain): Promise<void> {
  let signed: [string, string][] = [];
  const keep = (fields: [string, string][]) => {
    signed = fields;
    return fields;
  };
  const first = await peer.put({ fields: keep });
  same(first.status, 200, 'the first status');
  const second = await peer.put({ id: first.id, body: first.body, fields: () => signed });
  refused(second, 401, 'replayed');
}

type Check = Parameters<Scenario['run']>[1]['check'];

async function getChecks(peer: PlayedDomain, check: Check): Promise<void> {
  const directory = '/federation/v1/directory';
  await check('REQUESTS-3', 'a signed GET without content components is taken', async () =>
    same((await peer.get(directory)).status, 200, 'the status'),
  );
  await check('REQUESTS-3', 'a GET whose signature leaves out fed-destination is refused', async () =>
    refused(await peer.get(directory, { components: getComponents.slice(0, 3) }), 401),
  );
  await check('REQUESTS-3', 'a GET with a body is refused', async () => {
    const reply = await peer.get(directory, { body: Buffer.from('{}') });
    holds(reply.status >= 400 && reply.status < 500, `it was answered ${reply.status}`);
  });
}

function faultsOf(stage: Stage): Fault[] {
  return [...coverageFaults(stage), ...timeFaults(stage), ...keyFaults(stage), ...fieldFaults(stage)];
}

function coverageFaults(_: Stage): Fault[] {
  const cover = (components: readonly string[], fields: Record<string, string> = {}): PutTransaction => ({
    fault: { components, fields },
  });
  const say = (parameters: Record<string, string | number | undefined>): PutTransaction => ({ fault: { parameters } });
  const resend = (fields: PutTransaction['fields']): PutTransaction => (fields ? { fields } : {});
  return [
    { id: 'REQUESTS-1', what: 'a second signature is refused', put: resend(twoSignatures) },
    { id: 'REQUESTS-1', what: 'another tag is refused', put: say({ tag: 'agent-federation/2' }) },
    ...putComponents.map((component) => ({
      id: 'REQUESTS-2',
      what: `a signature that leaves out ${component} is refused`,
      put: cover(putComponents.filter((kept) => kept !== component)),
    })),
    {
      id: 'REQUESTS-2',
      what: 'one component more is refused',
      put: cover([...putComponents, '"x-more"'], { 'x-more': '1' }),
    },
    {
      id: 'REQUESTS-2',
      what: 'a component with a parameter is refused',
      put: cover(['"@method";req', ...putComponents.slice(1)]),
    },
    ...['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'].map((name) => ({
      id: 'REQUESTS-4',
      what: `a signature without ${name} is refused`,
      put: say({ [name]: undefined }),
    })),
    { id: 'REQUESTS-4', what: 'another alg is refused', put: say({ alg: 'hmac-sha256' }) },
  ];
}

function timeFaults(_: Stage): Fault[] {
  const now = nowInSeconds();
  const say = (parameters: Record<string, string | number | undefined>): PutTransaction => ({ fault: { parameters } });
  return [
    { id: 'REQUESTS-5', what: 'a window of 301 s is refused', put: say({ created: now, expires: now + 301 }) },
    {
      id: 'REQUESTS-5',
      what: 'an expires before created is refused',
      put: say({ created: now + 60, expires: now + 30 }),
    },
    {
      id: 'REQUESTS-6',
      what: 'a created 310 s ahead is refused',
      put: say({ created: now + 320, expires: now + 400 }),
    },
    {
      id: 'REQUESTS-6',
      what: 'an expires that has passed is refused',
      put: say({ created: now - 200, expires: now - 5 }),
    },
    { id: 'REQUESTS-7', what: 'a nonce of 15 bytes is refused', put: say({ nonce: base64url(Buffer.alloc(15, 7)) }) },
    { id: 'REQUESTS-7', what: 'a nonce of 65 bytes is refused', put: say({ nonce: base64url(Buffer.alloc(65, 7)) }) },
    {
      id: 'REQUESTS-7',
      what: 'a nonce that is not base64url is refused',
      put: say({ nonce: 'not base64url at all!!!!' }),
    },
  ];
}

function keyFaults({ peer, target }: Stage): Fault[] {
  const body = Buffer.from('{}');
  const cover = (components: readonly string[], fields: Record<string, string> = {}): PutTransaction => ({
    fault: { components, fields },
  });
  const other = peer.otherKey('unknown to the bundle');
  const id = 'txn_conformance_01m07gwwe0vsd5t9pvn0qs9vwy';
  const path = `/federation/v1/transactions/${id}`;
  return [
    {
      id: 'REQUESTS-10',
      what: "another domain's key reference is refused",
      put: { keyid: `key://${target.domain}/domain/${peer.key.kid}` },
    },
    {
      id: 'REQUESTS-10',
      what: "an agent's key is refused",
      put: { keyid: peer.agent('one').keyRef, key: peer.agent('one').key },
    },
    { id: 'REQUESTS-10', what: 'a signature by another key under the kid is refused', put: { key: other } },
    {
      id: 'KEYS-26',
      what: 'a key that the bundle does not name is refused',
      put: { key: other, keyid: `key://${peer.name}/domain/${other.kid}` },
    },
    { id: 'KEYS-5', what: 'a signature with S + L is refused', put: { fault: { signature: malleated } } },
    {
      id: 'KEYS-5',
      what: 'a signature of 63 bytes is refused',
      put: { fault: { signature: (signed) => signed.subarray(1) } },
    },
    {
      id: 'REQUESTS-11',
      what: 'a body that was changed on its way is refused',
      put: { sentBody: Buffer.from('{"origin":""}') },
      code: 'digest_mismatch',
    },
    {
      id: 'REQUESTS-11',
      what: 'two digests in the field are refused',
      put: cover(putComponents, { 'content-digest': `${contentDigestOf(body)}, sha-512=:AAAA:` }),
    },
    {
      id: 'REQUESTS-11',
      what: 'another algorithm alone is refused',
      put: cover(putComponents, { 'content-digest': 'sha-512=:AAAA:' }),
    },
    {
      id: 'REQUESTS-12',
      what: 'a signature over the dialled URL is refused',
      put: { id, targetUri: `http://dialled.invalid${path}` },
    },
    {
      id: 'REQUESTS-12',
      what: 'a signature over another path is refused',
      put: { targetUri: `${target.gateway}${path}x` },
    },
  ];
}

function fieldFaults({ peer }: Stage): Fault[] {
  const cover = (components: readonly string[], fields: Record<string, string> = {}): PutTransaction => ({
    fault: { components, fields },
  });
  const resend = (fields: PutTransaction['fields']): PutTransaction => (fields ? { fields } : {});
  return [
    {
      id: 'REQUESTS-13',
      what: 'a request to another domain is refused',
      put: { destination: 'elsewhere.test' },
      status: 421,
      code: 'wrong_destination',
    },
    {
      id: 'REQUESTS-14',
      what: 'a repeated fed-origin is refused',
      put: resend((fields) => [...fields, ['fed-origin', peer.name]]),
    },
    {
      id: 'REQUESTS-14',
      what: 'a repeated content-digest is refused',
      put: resend((fields) => [...fields, fieldIn(fields, 'content-digest')]),
    },
    {
      id: 'REQUESTS-14',
      what: 'a signature-input of 2,049 bytes is refused',
      put: resend(longLabel),
    },
    {
      id: 'REQUESTS-15',
      what: 'a body with content encoding is refused',
      put: resend((fields) => [...fields, ['content-encoding', 'gzip']]),
      status: 415,
    },
    {
      id: 'REQUESTS-15',
      what: 'another media type is refused',
      put: cover(putComponents, { 'content-type': 'text/plain' }),
      status: 415,
    },
    { id: 'NAMES-3', what: 'an origin in capital letters is refused', put: { origin: peer.name.toUpperCase() } },
  ];
}

/** The label `two` beside `fed`, the same signature under both. */
function twoSignatures(fields: [string, string][]): [string, string][] {
  return fields.map(([name, value]) =>
    name.startsWith('signature') ? [name, `${value}, ${value.replace(/^fed=/, 'two=')}`] : [name, value],
  );
}

/** The label is not signed, so that nothing but the length is wrong. */
function longLabel(fields: [string, string][]): [string, string][] {
  const label = 'f'.repeat(2_049);
  return fields.map(([name, value]) =>
    name.startsWith('signature') ? [name, value.replace(/^fed=/, `${label}=`)] : [name, value],
  );
}

function fieldIn(fields: readonly [string, string][], wanted: string): [string, string] {
  return fields.find(([name]) => name === wanted) ?? [wanted, ''];
}
