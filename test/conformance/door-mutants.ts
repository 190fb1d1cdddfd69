// Wrong servers, seen by what they say of themselves and by which requests they take.

import type { JsonObject } from '../../src/protocol/index.js';
import { answers, isObject, jsonIn, type Mutant, takes, withJson } from './mutant.js';
import type { Passing, Tamper } from './tampering-proxy.js';

const discoveryPath = '/.well-known/agent-federation';
const at = 'federation';

function discovery(change: (document: JsonObject) => JsonObject): () => Tamper {
  return answers(
    ({ path }) => path === discoveryPath,
    (reply) => withJson(reply, change(jsonIn(reply))),
  );
}

function bundle(change: (document: JsonObject) => JsonObject): () => Tamper {
  return answers(
    ({ path }) => path === '/federation/v1/bundle',
    (reply) => withJson(reply, change(jsonIn(reply))),
  );
}

function payload(change: (claims: JsonObject) => JsonObject): () => Tamper {
  return bundle((document) => {
    const claims: JsonObject = JSON.parse(Buffer.from(String(document.payload), 'base64url').toString('utf8'));
    return { ...document, payload: Buffer.from(JSON.stringify(change(claims))).toString('base64url') };
  });
}

const self = 'self-description';
const describing: Mutant[] = [
  {
    name: 'a gateway over plain http',
    scenario: self,
    caughtBy: ['DISCOVERY-3'],
    at,
    make: discovery((document) => ({ ...document, gateway: 'http://alpha.test' })),
  },
  {
    name: 'no signature scheme that we know',
    scenario: self,
    caughtBy: ['DISCOVERY-5'],
    at,
    make: discovery((document) => ({ ...document, request_signatures: ['draft-cavage'] })),
  },
  {
    name: 'limits above those of the protocol',
    scenario: self,
    caughtBy: ['DISCOVERY-6'],
    at,
    make: discovery((document) => ({
      ...document,
      limits: { ...(isObject(document.limits) ? document.limits : {}), transaction_envelopes: 500 },
    })),
  },
  {
    name: 'a discovery document of 60 KiB',
    scenario: self,
    caughtBy: ['DISCOVERY-1'],
    at,
    make: discovery((document) => ({ ...document, more: 'x'.repeat(61_440) })),
  },
  {
    name: 'a bundle that nobody signed',
    scenario: self,
    caughtBy: ['KEYS-8'],
    at,
    make: bundle((document) => ({ ...document, signatures: [] })),
  },
  {
    name: 'a private key in the bundle',
    scenario: self,
    caughtBy: ['KEYS-1'],
    at,
    make: payload((claims) => ({
      ...claims,
      keys: (Array.isArray(claims.keys) ? claims.keys : []).map((key) =>
        isObject(key) ? { ...key, d: key.x ?? '' } : key,
      ),
    })),
  },
  {
    name: 'a bundle for a year',
    scenario: self,
    caughtBy: ['KEYS-17'],
    at,
    make: payload((claims) => ({ ...claims, valid_until: '2099-01-01T00:00:00.000Z' })),
  },
  {
    name: 'a bundle with members in any order',
    scenario: self,
    caughtBy: ['ENCODING-7'],
    at,
    make: payload((claims) => Object.fromEntries(Object.entries(claims).reverse())),
  },
];

const signatures = 'request-signatures';
const proving: Mutant[] = [
  {
    name: 'unsigned requests are taken',
    scenario: 'open-door',
    caughtBy: ['REQUESTS-1'],
    at,
    make: takes({ code: 'signature_invalid' }),
  },
  {
    name: 'refusals are plain JSON',
    scenario: 'open-door',
    caughtBy: ['REQUESTS-16'],
    at,
    make: answers(
      (_, { status }) => status >= 400,
      (reply) => ({ ...reply, fields: [['content-type', 'application/json']] }),
    ),
  },
  {
    name: 'strangers are told the detail',
    scenario: 'open-door',
    caughtBy: ['REQUESTS-17'],
    at,
    make: answers(
      (_, { status }) => status === 401,
      (reply) => withJson(reply, { ...jsonIn(reply), detail: 'no row in federation.peers' }),
    ),
  },
  {
    name: 'garbage ends in 500',
    scenario: 'open-door',
    caughtBy: ['SECURITY-5'],
    at,
    make: answers(
      ({ body }) => body.toString('utf8').startsWith('[['),
      (reply) => ({ ...reply, status: 500 }),
    ),
  },
  { name: 'replays are taken', scenario: signatures, caughtBy: ['REQUESTS-8'], at, make: takes({ code: 'replayed' }) },
  {
    name: 'the body is not compared with its digest',
    scenario: signatures,
    caughtBy: ['REQUESTS-11'],
    at,
    make: takes({ code: 'digest_mismatch' }),
  },
  {
    name: 'signatures are taken whenever they were made',
    scenario: signatures,
    caughtBy: ['REQUESTS-5'],
    at,
    make: takes({ component: 'expires' }),
  },
  {
    name: 'any nonce is taken',
    scenario: signatures,
    caughtBy: ['REQUESTS-7'],
    at,
    make: takes({ component: 'nonce' }),
  },
  {
    name: 'requests to others are taken',
    scenario: signatures,
    caughtBy: ['REQUESTS-13'],
    at,
    make: takes({ code: 'wrong_destination' }),
  },
  {
    name: 'content encodings are taken',
    scenario: signatures,
    caughtBy: ['REQUESTS-15'],
    at,
    make: takes({ code: 'unsupported_media_type' }),
  },
  {
    name: 'only the first of repeated fields counts',
    scenario: signatures,
    caughtBy: ['REQUESTS-14'],
    at,
    make: () => (request, forward) => forward({ ...request, fields: firstOfEach(request) }),
  },
  {
    name: 'JSON is parsed loosely',
    scenario: 'strict-json',
    caughtBy: ['ENCODING-2', 'ENCODING-3', 'ENCODING-4', 'ENCODING-5', 'ENCODING-6'],
    at,
    make: takes({ code: 'malformed_json' }),
  },
];

function firstOfEach({ fields }: Passing): [string, string][] {
  return fields.filter(
    ([name], index) => fields.findIndex(([other]) => other.toLowerCase() === name.toLowerCase()) === index,
  );
}

export const doorMutants: readonly Mutant[] = [...describing, ...proving];
