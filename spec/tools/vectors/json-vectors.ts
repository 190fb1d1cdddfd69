// Strict JSON and canonical JSON, BR-06 among them.
import { canonicalize, digestOf, parseStrictJson, toBase64url, toUtf8 } from '../../../src/protocol/index.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const CANONICAL: readonly [name: string, json: string][] = [
  ['numbers', '[1e2, 1.0, -0, 1e-7, 0.000001, 4.5, 2e-3, 0.1, 333333333.33333329, 5e-324, 1.5e-10]'],
  ['BR-06 2^53 - 1', '9007199254740991'],
  ['the lowest integer', '-9007199254740991'],
  ['BR-06 1e2', '1e2'],
  ['BR-06 1.0', '1.0'],
  ['BR-06 -0', '-0'],
  ['BR-06 1e-7', '1e-7'],
  ['BR-06 U+1F600 stands before U+FB33', '{"\\ufb33":1,"\\ud83d\\ude00":2,"\\u00f6":3,"a":4,"A":5,"":6,"\\r":7,"1":8}'],
  ['BR-06 an escaped letter', '"\\u00e9"'],
  ['BR-06 the same letter raw', '"é"'],
  ['a decomposed letter stays as it is', '"e\\u0301"'],
  ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u2028"'],
  ['white space', ' { "b" : [ 1 , 2 ] ,\n\t"a" : { } } '],
  ['nested', '{"z":{"b":[{"d":1,"c":[]}],"a":null},"y":[true,false]}'],
  ['depth 32', `${'['.repeat(32)}${']'.repeat(32)}`],
];

const REFUSED: readonly [name: string, json: string][] = [
  ['BR-06 2^53 + 1', '9007199254740993'],
  ['2^53', '9007199254740992'],
  ['a large integer by exponent', '1e16'],
  ['not finite', '1e400'],
];

export function canonicalVectors(): VectorFile {
  return {
    about: 'JSON text and its canonical bytes (RFC 8785), or why the text is refused before it has any.',
    vectors: [
      ...CANONICAL.map(([name, json]) => canonicalOf(name, json)),
      ...REFUSED.map(([name, json]) => invalid(name, 'malformed_json', { json })),
    ],
  };
}

function canonicalOf(name: string, json: string) {
  const canonical = canonicalize(parseStrictJson(json, { maxBytes: 4096 }));
  return valid(name, { json, canonical, digest: digestOf(toUtf8(canonical)) });
}

const STRICT_GOOD: readonly [name: string, text: string][] = [
  ['an object', '{"a":1,"b":[true,false,null]}'],
  ['a scalar', '"text"'],
  ['one name in two objects', '{"a":{"a":1},"b":{"a":1}}'],
  ['names that differ by case', '{"a":1,"A":2}'],
  ['names in two normal forms', '{"\\u00e9":1,"e\\u0301":2}'],
  ['a pair of surrogates', '"\\ud83d\\ude00"'],
  ['a name like a value', '{"a":"a","b":"a"}'],
  ['a fraction', '0.1'],
  ['constructor is a name', '{"constructor":1}'],
  ['depth 32', `${'[{"a":'.repeat(16)}1${'}]'.repeat(16)}`],
];

const STRICT_BAD: readonly [name: string, text: string][] = [
  ['nothing', ''],
  ['a duplicate member', '{"a":1,"a":2}'],
  ['a duplicate member, one escaped', '{"a":1,"\\u0061":2}'],
  ['a duplicate member, deep', '[{"b":{"a":1,"c":2,"a":1}}]'],
  ['__proto__', '{"__proto__":{}}'],
  ['__proto__ escaped', '{"\\u005f_proto__":{}}'],
  ['a lone high surrogate', '"\\ud800"'],
  ['a lone low surrogate in a name', '{"\\udc00":1}'],
  ['surrogates in the wrong order', '"\\ude00\\ud83d"'],
  ['NUL', '"\\u0000"'],
  ['an unsafe integer', '{"a":9007199254740993}'],
  ['an unsafe negative integer', '-9007199254740993'],
  ['a number too large', '1e999'],
  ['a leading zero', '01'],
  ['a plus sign', '+1'],
  ['a bare minus', '-'],
  ['a fraction without digits', '1.'],
  ['NaN', 'NaN'],
  ['Infinity', '-Infinity'],
  ['a trailing comma', '[1,]'],
  ['a comment', '{/*a*/}'],
  ['single quotes', "{'a':1}"],
  ['two values', '1 2'],
  ['text after the end', '{}x'],
  ['an open string', '"abc'],
  ['an open object', '{"a":1'],
  ['a raw control character', '"a\tb"'],
  ['an unknown escape', '"\\x"'],
  ['a no-break space', '\u00a0{}'],
  ['depth 33', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['depth 1000', '['.repeat(1000)],
];

const STRICT_BYTES: readonly [name: string, hex: string][] = [
  ['a byte order mark', 'efbbbf7b7d'],
  ['malformed UTF-8', '22ff22'],
  ['an overlong form', '22c0af22'],
  ['a surrogate in UTF-8', '22eda08022'],
  ['a cut character', '22e282'],
  ['UTF-16', '7b007d00'],
];

export function strictVectors(): VectorFile {
  return {
    about:
      'JSON that every reader must accept, and JSON that every reader must refuse. `bytes` is base64url, where text would not do.',
    vectors: [
      ...STRICT_GOOD.map(([name, text]) => valid(name, { text })),
      ...STRICT_BAD.map(([name, text]) => invalid(name, 'malformed_json', { text })),
      ...STRICT_BYTES.map(([name, hex]) =>
        invalid(name, 'malformed_json', { bytes: toBase64url(Buffer.from(hex, 'hex')) }),
      ),
    ],
  };
}
