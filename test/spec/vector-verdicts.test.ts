// Our own code over every published vector: the same verdict, the same reason, the same values.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readVectors } from './vector-reading.js';
import { verdicts } from './verdicts.js';

const names = readdirSync(join(import.meta.dirname, '../../spec/vectors')).filter((name) => name.endsWith('.json'));

describe.each(names)('%s', (name) => {
  const { context, vectors } = readVectors(name);
  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const verdict = await verdicts[name]?.(vector, context);
    if (!verdict) throw new TypeError(`nobody judges ${name}`);
    const { reason, found, ...others } = verdict;
    expect(reason).toBe(vector.reason);
    expect(reason === undefined).toBe(vector.valid);
    if (vector.expect !== undefined) expect(found).toEqual(vector.expect);
    for (const [member, value] of Object.entries(others))
      if (vector[member] !== undefined) expect(value).toEqual(vector[member]);
  });
});
