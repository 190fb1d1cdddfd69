// The published JSON Schemas are what the code's own schemas give (`npm run spec` writes them).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { schemaFiles } from '../../spec/tools/schemas.js';

const folder = join(import.meta.dirname, '../../spec/schemas');
const files = schemaFiles();

test.each(Object.keys(files))('%s is what the code gives', async (name) => {
  await expect(files[name]).toMatchFileSnapshot(join(folder, name));
});

test('there are no other schemas', () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
});

test('every text with a grammar of its own is described', () => {
  expect(
    Object.entries(files).filter(
      ([name, text]) => name !== 'transaction.json' && /"(sender|domain|key_id|body_digest)": \{\}/.test(text),
    ),
  ).toEqual([]);
});
