#!/usr/bin/env node
// The `hearth-conformance` program: progress on standard error, the report on standard output.
import { writeFileSync } from 'node:fs';
import { readExpectedFailures } from './expected-failures.js';
import { type Options, readOptions, UsageError, usage } from './options.js';
import { openIdentity } from './peer/identity.js';
import { jsonReport } from './report/json.js';
import { junitReport } from './report/junit.js';
import { textReport } from './report/text.js';
import { readRequirements } from './requirements.js';
import { runConformance } from './run.js';
import { scenarios } from './scenarios/index.js';
import { setupText } from './setup.js';

const exit = { ok: 0, failed: 1, usage: 2, unreachable: 3 };

async function run(options: Options): Promise<number> {
  const requirements = readRequirements();
  checkNames(options, requirements.keys());
  const expected =
    options.expectedFailures === undefined ? new Set<string>() : readExpectedFailures(options.expectedFailures);
  const startedAt = new Date();
  const identity = openIdentity(options.identityFile);
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const { summary, domain } = await runConformance({
    ...options,
    identity,
    scenarios,
    requirements,
    expected,
    progress,
  });
  const durationMs = Date.now() - startedAt.getTime();
  const about = { target: options.target, domain, startedAt: startedAt.toISOString(), durationMs };
  if (options.json !== undefined) writeFileSync(options.json, jsonReport(summary, about));
  if (options.junit !== undefined) writeFileSync(options.junit, junitReport(summary));
  process.stdout.write(textReport(summary));
  return summary.ok ? exit.ok : exit.failed;
}

function checkNames({ only }: Options, ids: Iterable<string>): void {
  const known = new Set([...ids, ...scenarios.map(({ name }) => name)]);
  const unknown = only.find((name) => !known.has(name));
  if (unknown !== undefined) throw new UsageError(`--only ${unknown}: no scenario and no requirement`);
}

function list(): void {
  const requirements = readRequirements();
  for (const { name, about, needs, checks } of scenarios) {
    process.stdout.write(`${name}: ${about}${needs.length === 0 ? '' : ` (needs: ${needs.join(', ')})`}\n`);
    for (const id of checks) {
      const requirement = requirements.get(id);
      process.stdout.write(`  ${id} ${requirement?.keyword ?? ''} ${requirement?.sentence ?? ''}\n`);
    }
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), process.env);
  switch (options.action) {
    case 'help':
      process.stdout.write(usage);
      return exit.ok;
    case 'list':
      list();
      return exit.ok;
    case 'setup': {
      const { kid } = openIdentity(options.identityFile).keyOf(options.originDomain, 'domain');
      process.stdout.write(setupText({ ...options, fingerprint: kid }));
      return exit.ok;
    }
    case 'run':
      return run(options);
  }
}

// A reader that has seen enough, as in `--list | head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

try {
  process.exitCode = await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`hearth-conformance: ${message}\n`);
  process.exitCode = error instanceof UsageError ? exit.usage : exit.unreachable;
  if (error instanceof UsageError) process.stderr.write(`\n${usage}`);
}
