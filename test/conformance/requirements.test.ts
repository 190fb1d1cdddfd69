// The frozen list of requirements is what the specification says now; `npm run conformance:requirements` writes it anew.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { extractRequirements } from '../../conformance/requirements.js';

const root = join(import.meta.dirname, '../..');
const spec = join(root, 'spec');

test('conformance/requirements.json lists the requirements of the chapters, in their order', async () => {
  const requirements = readdirSync(spec)
    .filter((name) => /^[0-9]{2}-[a-z-]+\.md$/.test(name))
    .sort()
    .flatMap((name) => extractRequirements(name.replace(/\.md$/, ''), readFileSync(join(spec, name), 'utf8')));
  expect(requirements.length).toBeGreaterThan(150);
  const text = `${JSON.stringify({ requirements }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot(join(root, 'conformance/requirements.json'));
});
