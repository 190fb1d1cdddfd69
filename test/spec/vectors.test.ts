// The published vectors are what the generator makes, byte for byte (`npm run spec:vectors` writes them).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { vectorFiles } from '../../spec/tools/vectors/index.js';
import { vectorText } from '../../spec/tools/vectors/vector-file.js';

const folder = join(import.meta.dirname, '../../spec/vectors');
const files = await vectorFiles();

test.each(Object.keys(files))('%s is what the generator makes', async (name) => {
  const file = files[name];
  if (!file) throw new TypeError(name);
  await expect(vectorText(file)).toMatchFileSnapshot(join(folder, name));
});

test('there are no other vectors', () => {
  const published = readdirSync(folder).filter((name) => name.endsWith('.json'));
  expect(published.sort()).toEqual(Object.keys(files).sort());
});

test('every vector has its own name, and an invalid one its reason', () => {
  for (const [name, { vectors }] of Object.entries(files)) {
    expect(new Set(vectors.map((vector) => vector.name)).size, name).toBe(vectors.length);
    expect(vectors.filter((vector) => !vector.valid && !/^[a-z_0-9]+$/.test(String(vector.reason)))).toEqual([]);
  }
});
