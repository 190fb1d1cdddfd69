// The second-language check of the vectors, which shares no code with ours. It runs where Python and its cryptography are.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../spec/vectors');
const python = spawnSync('python3', ['-c', 'import cryptography']);
const copy = mkdtempSync(join(tmpdir(), 'hearth-vectors-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe.skipIf(python.status !== 0)('check.py (needs python3-cryptography)', () => {
  test('BR-06 reproduces every vector', () => {
    const { status, stdout } = check(folder);
    expect(stdout).toMatch(/^[1-9][0-9]{2,} passed, 0 failed\n$/);
    expect(status).toBe(0);
  });

  test.each([
    ['canonical-json.json', /"canonical": "100"/, '"canonical": "1e2"'],
    ['envelopes.json', /"reason": "body_digest_mismatch"/, '"reason": "signature_invalid"'],
    ['signatures.json', /"signature": "./, '"signature": "_'],
    ['transitions.json', /"state": "fulfilled"/, '"state": "reported"'],
    ['bundles.json', /"sequence": "7"\n/, '"sequence": "8"\n'],
  ])('a changed %s is noticed', (name, from, to) => {
    cpSync(folder, copy, { recursive: true });
    const text = readFileSync(join(copy, name), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(copy, name), text.replace(from, to));
    const { status, stdout } = check(copy);
    expect(stdout).toContain(`${name}: `);
    expect(status).toBe(1);
  });
});

function check(where: string): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync('python3', [join(where, 'check.py')], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return { status, stdout };
}
