import { describe, expect, test } from 'vitest';
import {
  describeDomain,
  describeProblem,
  LIMITS,
  PROBLEM_CODES,
  Problem,
  parseDiscovery,
  toUtf8,
} from '../../src/protocol/index.js';
import { ALPHA, BETA } from './fixtures.js';

const document = describeDomain({
  domain: ALPHA,
  gateway: 'https://alpha.test',
  first_contact: 'quarantine',
  software: 'hearth/0.1.0',
  contact: 'mailto:ops@alpha.test',
});
const bytes = (change: Record<string, unknown> = {}) => toUtf8(JSON.stringify({ ...document, ...change }));

describe('discovery', () => {
  test('what a domain describes is read by its peers', () => {
    expect(parseDiscovery(bytes(), ALPHA)).toEqual({ ok: true, document });
    expect(document).toMatchObject({
      bundle: 'https://alpha.test/federation/v1/bundle',
      limits: {
        envelope_bytes: 65_536,
        transaction_envelopes: 50,
        transaction_bytes: 4_194_304,
        transactions_in_flight: 8,
        clock_skew_s: 300,
      },
    });
  });

  test('unknown members are passed over', () => {
    expect(parseDiscovery(bytes({ more: 1 }), ALPHA)).toEqual({ ok: true, document });
  });

  test.each<[string, Record<string, unknown>]>([
    ['another version', { schema_version: 'agent-federation/2' }],
    ['another domain', { domain: BETA }],
    ['plain http', { gateway: 'http://alpha.test' }],
    ['credentials in the gateway', { gateway: 'https://u:p@alpha.test' }],
    ['a query in the gateway', { gateway: 'https://alpha.test/?x' }],
    ['a trailing slash', { gateway: 'https://alpha.test/' }],
    ['a path that is not normal', { gateway: 'https://alpha.test/a/../b' }],
    ['an upper-case host', { gateway: 'https://ALPHA.test' }],
    ['no scheme that we have', { request_signatures: ['cavage'] }],
    ['limits above the ceiling', { limits: { ...document.limits, envelope_bytes: 65_537 } }],
    ['another first contact', { first_contact: 'open' }],
  ])('a document with %s is refused', (_, change) => {
    expect(parseDiscovery(bytes(change), ALPHA)).toMatchObject({ ok: false, reason: 'discovery_invalid' });
  });

  test('50 KiB are read, a byte more is not', () => {
    const base = bytes();
    const padded = (size: number) => Buffer.concat([base, Buffer.alloc(size - base.byteLength, ' ')]);
    expect(parseDiscovery(padded(LIMITS.discoveryBytes), ALPHA).ok).toBe(true);
    expect(parseDiscovery(padded(LIMITS.discoveryBytes + 1), ALPHA).ok).toBe(false);
  });
});

describe('problems', () => {
  test.each(PROBLEM_CODES)('%s has a status, a title and advice', (code) => {
    const { status, title, action } = describeProblem(code);
    expect(new Problem(code, 'words')).toMatchObject({ code, status, detail: 'words', message: `${code}: words` });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title.length * action.length).toBeGreaterThan(0);
  });

  test('the cause is kept for the log', () => {
    const cause = new Error('disk full');
    expect(new Problem('internal', 'x', { cause }).cause).toBe(cause);
  });
});
