import { readFileSync } from 'node:fs';
import oracle from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ReadCanonical, readCanonicalJson } from '../../src/protocol/canonical-json.js';
import { canonicalize, LIMITS, Problem, parseStrictJson } from '../../src/protocol/index.js';

type Vectors = { cases: { name: string; input: string; canonical: string }[] };
const vectors: Vectors = JSON.parse(readFileSync(new URL('./vectors/jcs.json', import.meta.url), 'utf8'));

describe('canonical JSON', () => {
  test.each(vectors.cases)('BR-06 the RFC 8785 sample $name has its published bytes', ({ input, canonical }) => {
    expect(canonicalize(JSON.parse(input))).toBe(canonical);
  });

  test('BR-06 it agrees with another implementation on every value', () => {
    const wellFormed = fc.string({ unit: 'binary' });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, false),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        wellFormed,
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(wellFormed, tie('value'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(value, (input) => {
        expect(canonicalize(input)).toBe(oracle(input));
      }),
      { seed: 15, numRuns: 1000 },
    );
  });

  test('canonical text is a fixed point of parsing', () => {
    const text = canonicalize({ b: [1, 'é', { z: null, a: '\u20ac' }], a: 0.1 });
    expect(canonicalize(parseStrictJson(text, { maxBytes: 1000 }))).toBe(text);
  });

  test.each([
    ['1e2', '100'],
    ['1.0', '1'],
    ['-0', '0'],
    ['1e-7', '1e-7'],
    ['0.000001', '0.000001'],
    ['"\\u00e9"', '"é"'],
    ['{"\\ud83d\\ude00":1,"\\ufb33":2}', '{"😀":1,"\ufb33":2}'],
  ])('BR-06 %s becomes %s', (input, canonical) => expect(canonicalize(JSON.parse(input))).toBe(canonical));

  test('2^53 + 1 is refused by the parser and never reaches a signature', () => {
    expect(() => parseStrictJson('9007199254740993', { maxBytes: 100 })).toThrow(/2\^53/);
  });

  test.each([
    ['undefined', undefined],
    ['a member that is undefined', { a: undefined }],
    ['NaN', Number.NaN],
    ['Infinity', [Number.POSITIVE_INFINITY]],
    ['a lone surrogate', '\uD800'],
    ['a lone surrogate in a name', { '\uDC00': 1 }],
    ['a date', new Date(0)],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a map', new Map()],
  ])('%s has no canonical form', (_, value) => expect(() => canonicalize(value)).toThrow(TypeError));

  test('a hole in an array has no canonical form', () => {
    const sparse: unknown[] = [];
    sparse[1] = 1;
    expect(() => canonicalize(sparse)).toThrow(TypeError);
  });

  test('depth 32 is written, depth 33 is not', () => {
    const nest = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(canonicalize(nest(LIMITS.jsonDepth))).toHaveLength(64);
    expect(() => canonicalize(nest(LIMITS.jsonDepth + 1))).toThrow(/deeper/);
  });

  test('BR-06 the quick reading of headers says what the strict one says, for every text', () => {
    const name = fc.oneof(fc.constantFrom('a', 'b', '10', '9', '__proto__', 'é', ''), fc.string({ unit: 'binary' }));
    const member = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.integer(),
      fc.constantFrom(null, {}, [['x']], '\u0000', 'NUL\u0000'),
    );
    const spelled = fc.array(fc.tuple(name, member), { maxLength: 4 }).map((members) => {
      const list = members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
      return `{${list.join(',')}}`;
    });
    const canonical = fc.dictionary(name, member, { maxKeys: 4 }).map((value) => canonicalize(value));
    const spoilt = fc
      .tuple(canonical, fc.nat(), fc.constantFrom(' ', '"', '\\', '\\u0041', '\\ud800', '\ud800', '\u0000', '{', ','))
      .map(([text, at, what]) => text.slice(0, at % (text.length + 1)) + what + text.slice(at % (text.length + 1)));
    fc.assert(
      fc.property(fc.oneof(spelled, canonical, spoilt), (text) => {
        const limits = { maxBytes: 1_000 };
        expect(readCanonicalJson(text, limits)).toEqual(strictly(text, limits));
      }),
      { numRuns: 2_000 },
    );
  });

  test('a text of maxBytes is read, one byte more is malformed', () => {
    const text = canonicalize({ a: 'é' });
    expect(readCanonicalJson(text, { maxBytes: 10 })).toMatchObject({ kind: 'canonical' });
    expect(readCanonicalJson(text, { maxBytes: 9 })).toMatchObject({ kind: 'malformed' });
  });
});

function strictly(text: string, limits: { maxBytes: number }): ReadCanonical {
  try {
    const value = parseStrictJson(text, limits);
    return { kind: canonicalize(value) === text ? 'canonical' : 'not_canonical', value };
  } catch (error) {
    if (error instanceof Problem) return { kind: 'malformed', detail: error.detail };
    throw error;
  }
}
