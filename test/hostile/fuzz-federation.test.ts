// A seeded fuzzer for the federation door (BR-88): good traffic, broken. Every answer is a result or a refusal in 4xx, the process and
// its other callers notice nothing. HEARTH_TEST_LONG=1 runs fifty times as long with a fresh seed.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canonicalize, signingBytes, toBase64url, toUtf8, type WireEnvelope } from '../../src/protocol/index.js';
import { certify, frameOf, signHostile } from '../support/hostile-peer.js';
import {
  alpha,
  fromEve,
  goodMessageArrives,
  type HostileWorld,
  knock,
  openHostileWorld,
  signDelivery,
} from './hostile-world.js';
import { anyChange, anyJson, edits, expectAnswer, fuzzed, fuzzRuns, mutate } from './mutation.js';
import { saySocket } from './wire.js';

let world: HostileWorld;
let certificate = '';
let recorded: WireEnvelope;
const time = fuzzed ? 1_200_000 : 30_000;

beforeAll(async () => {
  world = await openHostileWorld();
  certificate = await certify(world.evil, { agent: world.eve });
  recorded = await fromEve(world);
});
afterEach(async () => {
  await goodMessageArrives(world);
  expect(world.domain.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
afterAll(() => world.close());

async function deliverBody(body: Uint8Array): Promise<void> {
  const { status, results } = await knock(world, await signHostile(world.evil, { to: alpha, body }));
  expectAnswer(status);
  // An item that breaks us would be answered so.
  expect(results.filter(({ code }) => code === 'internal')).toEqual([]);
}

/** Sealed for real, whatever the header says. */
async function sealAny(change: Record<string, unknown>, body?: unknown): Promise<object> {
  const header = { ...JSON.parse(recorded.header), ...change };
  for (const name of Object.keys(header)) if (header[name] === undefined) delete header[name];
  const text = canonicalize(header);
  const signature = `ed25519.${toBase64url(await world.eve.key.sign(signingBytes('envelope', toUtf8(text))))}`;
  return { header: text, signature, body: body ?? recorded.body };
}

describe('the federation door', () => {
  it(
    'takes any bytes of a recorded transaction, signed anew',
    async () => {
      const good = frameOf(world.evil, alpha, {
        certificates: [certificate],
        envelopes: [recorded, await fromEve(world)],
      });
      await fc.assert(
        fc.asyncProperty(edits, (changes) => deliverBody(mutate(good, changes))),
        fuzzRuns(60),
      );
    },
    time,
  );

  it(
    'takes any JSON for any member of the frame',
    async () => {
      const change = anyChange(['origin', 'destination', 'incarnation', 'certificates', 'envelopes', 'signals']);
      await fc.assert(
        fc.asyncProperty(change, (members) => deliverBody(frameOf(world.evil, alpha, members))),
        fuzzRuns(40),
      );
    },
    time,
  );

  it(
    'takes any JSON as certificates, envelopes and signals',
    async () => {
      const items = fc.array(anyJson, { maxLength: 4 });
      const frame = fc.record({ certificates: items, envelopes: items, signals: items });
      await fc.assert(
        fc.asyncProperty(frame, (members) => deliverBody(frameOf(world.evil, alpha, members))),
        fuzzRuns(40),
      );
    },
    time,
  );

  it(
    'takes any signed header, alone and between good ones',
    async () => {
      const change = anyChange(
        Object.keys(JSON.parse(recorded.header)).concat([
          'body_ref',
          'in_reply_to',
          'hop_chain',
          'engagement',
          'correlation_id',
          'causation_id',
        ]),
      );
      await fc.assert(
        fc.asyncProperty(change, async (members) => {
          const sealed = await sealAny(members).catch((error: unknown) => {
            // What has no canonical form cannot be sealed by anybody.
            if (error instanceof TypeError) return undefined;
            throw error;
          });
          if (!sealed) return;
          const good = await fromEve(world);
          const body = frameOf(world.evil, alpha, {
            certificates: [certificate],
            envelopes: [good, sealed, await fromEve(world)],
          });
          const { status, results } = await knock(world, await signHostile(world.evil, { to: alpha, body }));
          expect(status).toBe(200);
          expect([results[0]?.result, results.at(-1)?.result]).toEqual(['accepted', 'accepted']);
          expect(results.filter(({ code }) => code === 'internal')).toEqual([]);
        }),
        fuzzRuns(15),
      );
    },
    time,
  );

  it(
    'takes any body of any interaction type, honestly signed',
    async () => {
      const types = fc.constantFrom(
        'message',
        'request',
        'accept',
        'reject',
        'report',
        'cancel',
        'revoke',
        'query',
        'handoff',
      );
      const said = fc.oneof(
        anyJson,
        anyChange([
          'text',
          'data',
          'proposal',
          'accepts',
          'commitment_id',
          'proposal_id',
          'version',
          'proposal_digest',
          'previous',
          'summary',
          'evidence',
        ]),
      );
      await fc.assert(
        fc.asyncProperty(types, said, async (interaction_type, value) => {
          const body = JSON.stringify(value) ?? '';
          if (Buffer.byteLength(body) > 48 * 1024) return;
          const envelope = await fromEve(world, { body, draft: { interaction_type } });
          await deliverBody(frameOf(world.evil, alpha, { certificates: [certificate], envelopes: [envelope] }));
        }),
        fuzzRuns(60),
      );
    },
    time,
  );

  it(
    'takes any bytes as HTTP',
    async () => {
      const port = Number(new URL(world.domain.running.urls.federation).port);
      const { path, headers, body } = await signDelivery(world, { peer: world.evil, envelopes: [recorded] });
      const head = Object.entries({ host: 'alpha.test', ...headers, 'content-length': String(body.byteLength) }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const good = Buffer.concat([Buffer.from(`PUT ${path} HTTP/1.1\r\n${head.join('')}\r\n`), body]);
      await fc.assert(
        fc.asyncProperty(edits, async (changes) => {
          const said = await saySocket({ port, parts: [mutate(good, changes)], end: true, patienceMs: 5_000 });
          // A connection that was half-closed in the middle of a request may be closed without a word.
          if (said.status !== 0) expectAnswer(said.status);
          else expect(said.closed).toBe(true);
        }),
        fuzzRuns(60),
      );
    },
    time,
  );

  it(
    'takes any path and query',
    async () => {
      const part = fc.oneof(
        fc.string({ maxLength: 20 }),
        fc.constantFrom(
          '..',
          '%00',
          '%ff',
          '%2f',
          'federation',
          'v1',
          'transactions',
          'commitments',
          'directory',
          'webhooks',
          'github',
          '.well-known',
          '?cursor=AA',
          '?limit=x',
        ),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(part, { maxLength: 5 }),
          fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
          async (parts, method) => {
            const url = `${world.domain.running.urls.federation}/${parts.map((text) => (/^[.%?]/.test(text) ? text : encodeURIComponent(Buffer.from(text).toString()))).join('/')}`;
            expectAnswer((await fetch(url, { method, redirect: 'manual' })).status);
          },
        ),
        fuzzRuns(60),
      );
    },
    time,
  );
});
