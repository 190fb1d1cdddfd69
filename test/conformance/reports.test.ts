// Verdicts, reports, expected failures and the command line: what a run says and how it ends.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readExpectedFailures } from '../../conformance/expected-failures.js';
import { readOptions, UsageError } from '../../conformance/options.js';
import { jsonReport } from '../../conformance/report/json.js';
import { junitReport } from '../../conformance/report/junit.js';
import { textReport } from '../../conformance/report/text.js';
import { readRequirements } from '../../conformance/requirements.js';
import { type Observation, type Outcome, runScenario, type Scenario } from '../../conformance/scenario.js';
import type { Stage } from '../../conformance/stage.js';
import { judge } from '../../conformance/verdict.js';
import { startTestDomain, type TestDomain } from '../support/test-domain.js';

const requirements = readRequirements();
const folder = mkdtempSync(join(tmpdir(), 'hearth-conformance-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const seen = (id: string, outcome: Outcome, detail = ''): Observation => ({
  scenario: 'a scenario',
  id,
  what: 'something <odd> & "quoted"',
  outcome,
  detail,
});

const judged = (observations: Observation[], expected: string[] = []) =>
  judge(observations, { requirements, expected: new Set(expected) });

describe('verdicts', () => {
  test('a MUST that does not hold fails the run, a SHOULD warns', () => {
    expect(requirements.get('KEYS-18')?.keyword).toBe('SHOULD');
    const { counts, ok } = judged([seen('KEYS-18', 'failed'), seen('KEYS-17', 'passed')]);
    expect({ ...counts, ok }).toMatchObject({ passed: 1, failed: 0, warned: 1, ok: true });
    expect(judged([seen('KEYS-17', 'failed')]).ok).toBe(false);
  });

  test('one observation that does not hold outweighs all that do', () => {
    expect(judged([seen('KEYS-17', 'passed'), seen('KEYS-17', 'failed')]).counts.failed).toBe(1);
    expect(judged([seen('KEYS-17', 'passed'), seen('KEYS-17', 'skipped')]).counts.passed).toBe(1);
  });

  test('an expected failure does not fail the run; an entry that passes does, and an unknown id', () => {
    expect(judged([seen('KEYS-17', 'failed')], ['KEYS-17'])).toMatchObject({
      ok: true,
      counts: { failed: 0, expected: 1 },
    });
    const stale = judged([seen('KEYS-17', 'passed')], ['KEYS-17', 'NONSENSE-1']);
    expect(stale.ok).toBe(false);
    expect(stale.stale.map(({ id }) => id)).toEqual(['KEYS-17', 'NONSENSE-1']);
    expect(judged([seen('KEYS-17', 'skipped')], ['KEYS-17', 'KEYS-1']).ok).toBe(true);
  });

  test('the file of expected failures takes remarks', () => {
    const file = join(folder, 'expected');
    writeFileSync(file, '# known\nKEYS-17 # since ever\n\nKEYS-18\n');
    expect([...readExpectedFailures(file)]).toEqual(['KEYS-17', 'KEYS-18']);
  });
});

describe('reports', () => {
  const summary = judged([
    seen('KEYS-17', 'failed', 'it is <longer>'),
    seen('KEYS-1', 'passed'),
    seen('NAMES-1', 'skipped', 'no set-up'),
  ]);
  const about = { target: 'http://127.0.0.1:1', domain: 'alpha.test', startedAt: '', durationMs: 1 };

  test('the readable one names what failed and why, what was left out, and the counts', () => {
    const text = textReport(summary);
    expect(text).toContain('KEYS-17');
    expect(text).toContain('it is <longer>');
    expect(text).toContain('no set-up: NAMES-1');
    expect(text.trimEnd().endsWith('1 passed, 1 failed, 1 skipped')).toBe(true);
  });

  test('the one in JSON holds every observation', () => {
    const report = JSON.parse(jsonReport(summary, about));
    expect(report).toMatchObject({ ok: false, counts: { passed: 1, failed: 1, skipped: 1 } });
    expect(report.requirements).toHaveLength(3);
  });

  test('the one for build servers is XML, whatever was said', () => {
    const xml = junitReport(summary);
    expect(xml).toContain('&lt;longer&gt;');
    expect(xml.match(/<testcase /g)).toHaveLength(3);
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml.match(/<skipped /g)).toHaveLength(1);
  });
});

describe('a scenario', () => {
  // The scenarios of this test do not look at the stage.
  const stage = Object.create(null) as Stage;
  const play = async (run: Scenario['run'], timeoutMs = 1_000) => {
    const noted: Observation[] = [];
    const scenario: Scenario = { name: 'test', about: '', needs: [], checks: ['KEYS-1', 'KEYS-2'], run };
    await runScenario(scenario, { stage, timeoutMs, note: (observation) => noted.push(observation) });
    return noted.map(({ id, outcome, detail }) => `${id} ${outcome} ${detail}`.trim());
  };

  test('that ends early has not shown the rest', async () => {
    const noted = await play(async (_, { check }) => {
      await check('KEYS-1', 'holds', () => undefined);
      throw new Error('the door is shut');
    });
    expect(noted).toEqual(['KEYS-1 passed', 'KEYS-2 failed the scenario ended early: Error: the door is shut']);
  });

  test('that does not end is ended', async () => {
    expect(await play(() => new Promise(() => undefined), 20)).toEqual([
      'KEYS-1 failed the scenario did not end within 0 s',
      'KEYS-2 failed the scenario did not end within 0 s',
    ]);
  });

  test('that reports an id which it does not name is a mistake of the suite', async () => {
    const [first] = await play((_, { check }) => check('KEYS-3', 'holds', () => undefined));
    expect(first).toContain('does not name KEYS-3');
  });
});

describe('the command line', () => {
  let domain: TestDomain;
  beforeAll(async () => {
    domain = await startTestDomain();
  });
  afterAll(() => domain.stop());

  const program = join(import.meta.dirname, '../../dist-conformance/main.js');
  const run = (...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      execFile('node', [program, ...args], { cwd: folder }, (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
      });
    });

  test('refuses what it does not understand', async () => {
    expect(() => readOptions([], {})).toThrow(UsageError);
    expect(() => readOptions(['--target', 'nowhere'], {})).toThrow(UsageError);
    expect(() => readOptions(['--target', 'http://a', '--listen', 'x'], {})).toThrow(UsageError);
    expect(await run('--target', 'http://127.0.0.1:1', '--only', 'NONSENSE-1')).toMatchObject({ code: 2 });
  });

  test('says when the target does not answer', async () => {
    expect(await run('--target', 'http://127.0.0.1:1')).toMatchObject({
      code: 3,
      err: expect.stringContaining('127.0.0.1:1'),
    });
  });

  test('runs what it can without any set-up, shows its progress, and writes the reports', {
    timeout: 60_000,
  }, async () => {
    const files = ['--json', join(folder, 'r.json'), '--junit', join(folder, 'r.xml')];
    const ran = await run('--target', domain.running.urls.federation, '--listen', '127.0.0.1:0', ...files);
    expect(ran.err).toContain('self-description');
    expect(ran.out).toMatch(/Left out:[\s\S]*\d+ passed, 0 failed, \d+ skipped\n$/);
    expect(ran.code).toBe(0);
    expect(JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))).toMatchObject({ ok: true, domain: 'alpha.test' });
    expect(readFileSync(join(folder, 'r.xml'), 'utf8')).toContain('<testsuites');
  });

  test('shows the set-up and every check', async () => {
    expect((await run('--setup')).out).toMatch(
      /HEARTH_RESOLVE=conformance\.test=http[\s\S]*hearth peer pin conformance\.test \S{43}\n/,
    );
    expect((await run('--list')).out).toContain('REQUESTS-8 MUST');
  });

  test('a reader that has seen enough is no error', async () => {
    const child = spawn('node', [program, '--list'], { cwd: folder });
    child.stdout.destroy();
    const err: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    const [code] = await once(child, 'close');
    expect(`${Buffer.concat(err)}`).toBe('');
    expect(code).toBe(0);
  });
});
