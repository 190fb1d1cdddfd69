// Every MUST leads to a check or to a written reason, and every check to a requirement.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRequirements } from '../../conformance/requirements.js';
import { scenarios } from '../../conformance/scenarios/index.js';

const folder = join(import.meta.dirname, '../../conformance');
const requirements = readRequirements();
const checked = new Set(scenarios.flatMap(({ checks }) => checks));
const rows = [...readFileSync(join(folder, 'untested.md'), 'utf8').matchAll(/^\| ([A-Z]+-[0-9]+) +\| (.+?) *\|$/gm)];
const excused = new Map(rows.map(([, id = '', reason = '']) => [id, reason]));

test('every MUST has a check or a written reason, and never both', () => {
  const musts = [...requirements.values()].filter(({ keyword }) => keyword === 'MUST').map(({ id }) => id);
  expect(musts.filter((id) => !checked.has(id) && !excused.has(id))).toEqual([]);
  expect([...excused.keys()].filter((id) => checked.has(id))).toEqual([]);
});

test('every check and every reason is about a requirement that exists', () => {
  expect([...checked, ...excused.keys()].filter((id) => !requirements.has(id))).toEqual([]);
  expect([...excused.values()].filter((reason) => reason.length < 20)).toEqual([]);
});

test('a scenario names each of its ids once, and names are given once', () => {
  for (const { name, checks } of scenarios) expect(new Set(checks).size, name).toBe(checks.length);
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
});
