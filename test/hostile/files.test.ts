// Files and options that people hand to the command line and the start (BR-88): each wrong one is one sentence with advice and
// an exit code, never a stack, an endless read or a half-started domain.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../src/config.js';
import { runCli } from '../cli/cli-world.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hearth-files-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(content: string | Uint8Array): string {
  const path = join(directory, `f${Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')}`);
  writeFileSync(path, content);
  return path;
}

const deep = '['.repeat(100_000) + ']'.repeat(100_000);
const contents: [string, string | Uint8Array][] = [
  ['nothing', ''],
  ['null', 'null'],
  ['an array', '[]'],
  ['half of it', '{"name":'],
  ['depth 100,000', `{"domain":${deep}}`],
  ['10 MB', 'x'.repeat(10 * 1024 * 1024)],
  ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00)],
  ['__proto__', '{"__proto__":{"domain":"evil.test"}}'],
  ['a member twice', '{"domain":"a.test","domain":"b.test"}'],
];

describe('a configuration file of', () => {
  it.each(contents)('%s stops the start with a sentence', (_, content) => {
    expect(() => loadConfig({}, { config: file(content) })).toThrow(ConfigError);
  });
  it.each([
    ['a number for text', '{"domain":7}'],
    ['an object for a port', '{"api_port":{}}'],
    ['a port beyond all', '{"api_port":70000}'],
    ['an unknown setting', '{"domian":"a.test"}'],
    ['NUL in a name', '{"domain":"a\\u0000.test"}'],
    ['a public name in the resolve map', '{"resolve":{"example.com":"http://127.0.0.1:1"}}'],
    ['a resolve target with a path', '{"resolve":{"b.test":"http://127.0.0.1:1/x"}}'],
    ['a public URL with a password', '{"public_url":"https://u:p@a.test"}'],
    ['a plain public URL', '{"public_url":"http://a.test"}'],
    ['an effect origin that is none', '{"effect_origins":["javascript:alert(1)"]}'],
  ])('%s stops the start with a sentence', (_, content) => {
    expect(() => loadConfig({}, { config: file(content) })).toThrow(ConfigError);
  });
  it('a directory, or what is not there, stops the start with a sentence', () => {
    expect(() => loadConfig({}, { config: directory })).toThrow(ConfigError);
    expect(() => loadConfig({}, { config: join(directory, 'missing') })).toThrow(ConfigError);
  });
  it('an endless file stops the start with a sentence', () => {
    expect(() => loadConfig({}, { config: '/dev/zero' })).toThrow(ConfigError);
  });
});

describe('the command line', () => {
  const run = (...args: string[]) => runCli(args);
  it.each(contents.filter(([name]) => name !== 'a member twice' && name !== '__proto__'))(
    '--runtime-config of %s is refused before anything is sent',
    async (_, content) => {
      const { exitCode, err } = await run('agent', 'create', 'x', '--runtime-config', file(content));
      expect(exitCode).toBeGreaterThan(0);
      expect(err).not.toMatch(/\n\s+at /);
      expect(err.length).toBeLessThan(1_000);
    },
  );
  it.each([
    ['nothing', ''],
    ['two lines', 'a\nb'],
    ['10 MB', 'x'.repeat(10 * 1024 * 1024)],
    ['a control character', 'a\u001b[31m'],
  ])('--token-file of %s is refused before anything is sent', async (_, content) => {
    const { exitCode, err } = await run('agent', 'list', '--token-file', file(content));
    expect(exitCode).toBeGreaterThan(0);
    expect(err).not.toMatch(/\n\s+at /);
    expect(err.length).toBeLessThan(1_000);
  });
  it.each([['--token-file'], ['--runtime-config']])('%s of an endless file is refused', async (option) => {
    const { exitCode, err } = await run('agent', 'create', 'x', option, '/dev/zero');
    expect(exitCode).toBeGreaterThan(0);
    expect(err.length).toBeLessThan(1_000);
  });
});
