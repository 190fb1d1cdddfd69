import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DOMAIN_ID_KINDS,
  homeOf,
  homeTagOf,
  ID_KINDS,
  isId,
  isPrincipalId,
  mintDomainId,
  mintId,
  mintingDomainOf,
  parseId,
} from '../../src/protocol/index.js';
import { ALPHA, ASKER_ID, later, NOW, random, TAG, WORKER_ID } from './fixtures.js';

const SEED = { seed: 13, numRuns: 200 };
const kind = fc.constantFrom(...ID_KINDS);
const domainKind = fc.constantFrom(...DOMAIN_ID_KINDS);
const chance = fc.uint8Array({ minLength: 10, maxLength: 10 });

describe('ids', () => {
  test('an id carries its kind and its home', () => {
    fc.assert(
      fc.property(kind, chance, (k, bytes) => {
        const id = mintId(k, TAG, { now: NOW, random: () => bytes });
        expect(id).toMatch(/^[a-z]+_[a-z2-7]{12}_[0-9a-hjkmnp-tv-z]{26}$/);
        expect(parseId(id)).toMatchObject({ kind: k, homeTag: TAG });
        expect(homeOf(id)).toBe(TAG);
        expect(mintingDomainOf(id)).toBeUndefined();
      }),
      SEED,
    );
  });

  test('a conversation or commitment id names the domain that minted it', () => {
    fc.assert(
      fc.property(domainKind, chance, (k, bytes) => {
        const id = mintDomainId(k, { domain: ALPHA, homeTag: TAG, now: NOW, random: () => bytes });
        expect(mintingDomainOf(id)).toBe(ALPHA);
        expect(homeOf(id)).toBe(TAG);
        expect(isId(k, id)).toBe(true);
      }),
      SEED,
    );
  });

  test('a later id sorts after an earlier one', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e12 }), fc.integer({ min: 1, max: 1e12 }), chance, (first, gap, bytes) => {
        const at = (ms: number) => mintId('msg', TAG, { now: later(ms), random: () => bytes });
        expect(at(first) < at(first + gap)).toBe(true);
      }),
      SEED,
    );
  });

  test('the time stands in front of the chance, as in the ULID sample', () => {
    const at = new Date(1_469_918_176_385);
    expect(mintId('msg', TAG, { now: at, random: () => new Uint8Array(10) })).toBe(
      `msg_${TAG}_01aryz6s41${'0'.repeat(16)}`,
    );
  });

  test.each([
    '',
    'msg_',
    `msg_${TAG}`,
    `msg_${TAG}_01`,
    `xyz_${TAG}_01arz3ndektsv4rrffq69g5fav`,
    `msg_${TAG}_01ARZ3NDEKTSV4RRFFQ69G5FAV`,
    `msg_alpha.test_${TAG}_01arz3ndektsv4rrffq69g5fav`,
    `cmt_${TAG}_01arz3ndektsv4rrffq69g5fav`,
    `cmt_ALPHA.test_${TAG}_01arz3ndektsv4rrffq69g5fav`,
    `msg_${TAG}_81arz3ndektsv4rrffq69g5fav`,
    `msg_${TAG}_01arz3ndektsv4rrffq69g5fau`,
  ])('%s is no id', (text) => expect(parseId(text)).toBeUndefined());

  test('two mints with other chance differ', () => {
    expect(mintId('run', TAG, { now: NOW, random })).not.toBe(mintId('run', TAG, { now: NOW, random }));
  });
});

test('each principal has its own home tag, always the same', () => {
  expect(isPrincipalId(ASKER_ID)).toBe(true);
  expect(homeTagOf(ASKER_ID)).toBe(TAG);
  expect(homeTagOf(WORKER_ID)).not.toBe(TAG);
});
