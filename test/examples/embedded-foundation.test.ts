// The Foundation embeds alone: the published example, type-checked against the built package and run as its own process.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { importsOf } from '../support/source-scan.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = 'examples/embedded-foundation.ts';
const said = 'completed HELLO!\ncompleted ANYBODY THERE!\n';
const run = promisify(execFile);
let empty: TestDatabase;

beforeAll(async () => {
  empty = await createTestDatabase({ empty: true });
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.examples.json'], { cwd: root });
}, 120_000);

afterAll(() => empty.drop());

async function runExample(env: Record<string, string>, cwd: string): Promise<string> {
  const script = join(root, 'dist-examples/embedded-foundation.js');
  return (await run(process.execPath, [script], { cwd, env: { PATH: process.env.PATH, ...env } })).stdout;
}

it('the example has at most 40 lines and imports nothing but the package', async () => {
  const text = await readFile(join(root, example), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  expect(importsOf(text)).toEqual(['hearth/foundation']);
});

it('it runs an agent on an empty PostgreSQL by URL, and a second start does the same work no second time', async () => {
  const { target } = empty;
  if (target.kind !== 'socket') throw new Error('the test database is behind a socket');
  const url = `postgres://${target.user}@localhost/${target.database}?host=${encodeURIComponent(target.directory)}`;
  expect(await runExample({ DATABASE_URL: url }, root)).toBe(said);
  expect(await runExample({ DATABASE_URL: url }, root)).toBe(said);
  const runs = await empty.database.sql`select status from foundation.runs`;
  // Told twice under one event id is told once; what was heard twice was two events.
  expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  expect(await empty.database.sql`select 1 from home.principals`).toHaveLength(0);
}, 60_000);

it('it runs an agent on a PostgreSQL of its own', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hearth-embedded-'));
  try {
    expect(await runExample({}, directory)).toBe(said);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);

it('nothing that it reaches is a home, a peer or a door', async () => {
  const reached = new Set<string>();
  const open = ['src/embedded-foundation.ts'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const text = await readFile(join(root, path), 'utf8');
    const code = text.replaceAll(/^import type [^;]+;$/gms, '');
    for (const target of importsOf(code).filter((target) => target.startsWith('.')))
      open.push(join(dirname(path), target).replace(/\.js$/, '.ts'));
  }
  expect(reached.size).toBeGreaterThan(50);
  expect([...reached].filter((path) => /^src\/(home|federation|http|cli)\//.test(path))).toEqual([]);
});
