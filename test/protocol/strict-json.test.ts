import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS, Problem, parseStrictJson, toUtf8 } from '../../src/protocol/index.js';

const SEED = { seed: 14, numRuns: 1000 };
const limits = { maxBytes: 65_536 };

function refusal(input: string | Uint8Array, bounds = limits): string {
  try {
    parseStrictJson(input, bounds);
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.detail}`;
    throw error;
  }
  return 'accepted';
}

/** A slow, obvious reader: counts the members of each object by a reviver-free walk over a token list. */
function oracleHasDuplicates(text: string): boolean {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  const stack: (string[] | undefined)[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (token === '{') stack.push([]);
    else if (token === '[') stack.push(undefined);
    else if (token === '}' || token === ']') stack.pop();
    else if (tokens[at + 1] === ':') {
      const name: string = JSON.parse(token);
      const names = stack.at(-1);
      if (names?.includes(name)) return true;
      names?.push(name);
    }
  }
  return false;
}

/** JSON text with few, sometimes escaped names, so that duplicates are common. */
const names = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\u0062"', '"a\\\\"', '"\\""', '"{"', '":"', '""');
const { document } = fc.letrec<{ document: string; object: string; array: string; leaf: string }>((tie) => ({
  document: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('object'), tie('array')),
  leaf: fc.oneof(names, fc.constantFrom('1', '-0', 'true', 'null', '1.5e3', '"x:y"')),
  object: fc
    .array(fc.tuple(names, fc.constantFrom('', ' ', '\n\t'), tie('document')), { maxLength: 4 })
    .map((members) => `{${members.map(([name, space, value]) => `${name}${space}:${space}${value}`).join(',')}}`),
  array: fc.array(tie('document'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
}));

describe('strict JSON', () => {
  test('duplicate members are refused exactly where a slow reader finds them, and else the value is that of JSON.parse', () => {
    let duplicates = 0;
    fc.assert(
      fc.property(document, (text) => {
        const expected = oracleHasDuplicates(text);
        if (expected) {
          duplicates += 1;
          expect(refusal(text)).toMatch(/appears twice/);
        } else {
          expect(parseStrictJson(text, limits)).toEqual(JSON.parse(text));
        }
      }),
      SEED,
    );
    expect(duplicates).toBeGreaterThan(50);
  });

  test('every JSON text of plain values is accepted, in bytes and as a string', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        if (refusal(text) !== 'accepted') return;
        expect(parseStrictJson(toUtf8(text), limits)).toEqual(JSON.parse(text));
      }),
      SEED,
    );
  });

  test('no input makes it throw anything but a Problem', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]":,\\u00e1-.Etrue \uD800'), maxLength: 30 }),
        (text) => void refusal(text),
      ),
      SEED,
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void refusal(bytes)),
      SEED,
    );
  });

  test.each([
    ['{"a":1,"a":1}', /"a\\?" appears twice|appears twice/],
    ['{"a":1,"\\u0061":2}', /appears twice/],
    ['{"x":{"a":1,"b":[{"a":1}],"a":2}}', /appears twice/],
    ['{"__proto__":{}}', /__proto__/],
    ['{"\\u005f_proto__":{}}', /__proto__/],
    ['"\\ud800"', /lone surrogate/],
    ['"\\udc00\\ud800"', /lone surrogate/],
    ['"\uD800"', /lone surrogate/],
    ['"a\\u0000b"', /NUL/],
    ['"a\u0000b"', /NUL|grammar/],
    ['1e400', /too large/],
    ['-1e400', /too large/],
    ['9007199254740992', /2\^53/],
    ['9007199254740993.0', /2\^53/],
    ['-9007199254740992', /2\^53/],
    ['1e300', /2\^53/],
    ['\uFEFF{}', /byte order mark/],
    ['{} {}', /grammar/],
    ['{}x', /grammar/],
    ['', /grammar/],
    ['01', /grammar/],
    ['+1', /grammar/],
    ['.5', /grammar/],
    ['NaN', /grammar/],
    ['[1,]', /grammar/],
    ["{'a':1}", /grammar/],
    ['{"a":1}//', /grammar/],
    ['"\t"', /grammar/],
    ['"abc', /does not end/],
    ['"\\x41"', /malformed/],
    ['-', /minus/],
  ])('%j is refused', (text, words) => expect(refusal(text)).toMatch(words));

  test('malformed UTF-8 is refused', () => {
    for (const hex of ['22c328 22', '22ff22', '22eda08022', '22c08022', '22f4908080 22']) {
      expect(refusal(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toMatch(/UTF-8/);
    }
  });

  test('a byte order mark in bytes is refused', () => {
    expect(refusal(Buffer.from('efbbbf7b7d', 'hex'))).toMatch(/byte order mark/);
  });

  test('safe numbers, pairs of surrogates and equal names in different objects are accepted', () => {
    const text = '{"a":{"n":9007199254740991},"b":{"n":-9007199254740991},"c":[0.1,-0,1e2,"\\ud83d\\ude00"],"d":"a"}';
    expect(parseStrictJson(text, limits)).toEqual(JSON.parse(text));
  });

  test('depth 32 is accepted, depth 33 is not', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(refusal(nest(LIMITS.jsonDepth))).toBe('accepted');
    expect(refusal(nest(LIMITS.jsonDepth + 1))).toMatch(/deeper than 32/);
    expect(refusal('['.repeat(60_000))).toMatch(/deeper/);
  });

  test('exactly the allowed bytes are accepted, one more is not', () => {
    const text = `"${'é'.repeat(9)}"`;
    expect(refusal(text, { maxBytes: 20 })).toBe('accepted');
    expect(refusal(text, { maxBytes: 19 })).toMatch(/too_large/);
    expect(refusal(toUtf8(text), { maxBytes: 19 })).toMatch(/too_large/);
  });
});
