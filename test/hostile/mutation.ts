// What a fuzzer does to recorded good traffic: bytes changed, dropped, repeated and put in, or one member of a JSON text
// replaced by any JSON value. All of it is decided by fast-check, so a seed gives it again.
import fc from 'fast-check';
import { expect } from 'vitest';

export const fuzzed = process.env.HEARTH_TEST_LONG === '1';
/** Fixed for each change; HEARTH_TEST_LONG draws fresh ones, and a failure shows its own. */
export const fuzzRuns = (runs: number) => (fuzzed ? { numRuns: runs * 50 } : { numRuns: runs, seed: 88 });

type Edit = { kind: 'flip' | 'drop' | 'repeat' | 'insert'; at: number; bytes: Uint8Array };

const spice = [
  '\0',
  '\\u0000',
  '\\ud800',
  '"',
  '{',
  '[',
  '}',
  ']',
  ',',
  ':',
  '\\',
  '1e999',
  '9007199254740993',
  '-',
  'null',
  '__proto__',
  '\r\n',
  '%00',
  '\u202e',
  '𝟘',
]
  .map((text) => Buffer.from(text))
  .concat([Buffer.from([0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.alloc(5_000, '[')]);

export const edits: fc.Arbitrary<Edit[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('flip' as const, 'drop' as const, 'repeat' as const, 'insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    bytes: fc.oneof(fc.constantFrom(...spice), fc.uint8Array({ minLength: 1, maxLength: 8 })),
  }),
  { minLength: 1, maxLength: 4 },
);

export function mutate(good: Uint8Array, changes: readonly Edit[]): Buffer {
  let bytes = Buffer.from(good);
  for (const { kind, at, bytes: given } of changes) {
    const from = Math.floor(at * bytes.length);
    const [head, tail] = [bytes.subarray(0, from), bytes.subarray(from)];
    if (kind === 'insert') bytes = Buffer.concat([head, given, tail]);
    else if (kind === 'drop') bytes = Buffer.concat([head, tail.subarray(given.length)]);
    else if (kind === 'repeat') bytes = Buffer.concat([head, tail.subarray(0, 64), tail]);
    else bytes = Buffer.concat([head, given.subarray(0, 1), tail.subarray(1)]);
  }
  return bytes;
}

/** Any JSON, with the numbers, texts and shapes that parsers stumble over. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    0,
    -0,
    1e21,
    2 ** 53,
    -(2 ** 53),
    1e-7,
    '',
    '\u0000',
    '\ud800',
    'a'.repeat(70_000),
    [],
    {},
    [[]],
    true,
  ),
  fc.constantFrom<unknown>(
    'constructor',
    '__proto__',
    '9999-12-31T23:59:59.999Z',
    '0000-00-00T00:00:00.000Z',
    'agent://alpha.test/agents/bob',
    'conv_',
    'msg_',
  ),
);

/** The object with one or two members replaced, removed or added. */
export function anyChange(members: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.dictionary(
    fc.oneof(fc.constantFrom(...members), fc.string({ maxLength: 8 })),
    fc.option(anyJson, { nil: undefined }),
    {
      minKeys: 1,
      maxKeys: 2,
    },
  );
}

/** Neither our fault nor silence. */
export function expectAnswer(status: number): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
}
