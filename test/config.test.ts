import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, describeSettings, loadConfig } from '../src/config.js';

function fileWith(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'hearth-config-')), 'hearth.config.json');
  writeFileSync(file, text);
  return file;
}

describe('the configuration', () => {
  it('needs nothing: every default makes a domain on this machine alone', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      domain: 'alpha.test',
      publicUrl: 'https://alpha.test',
      federationHost: '127.0.0.1',
      federationPort: 7420,
      apiHost: '127.0.0.1',
      apiPort: 7421,
      databaseUrl: undefined,
      effectOrigins: [],
      logLevel: 'info',
      clockOffsetMs: 0,
    });
    expect(config.keyEncryptionKeyFile).toBe(join(config.dataDirectory, 'keys', 'kek'));
  });

  it('takes a flag before the environment, the environment before the file', () => {
    const file = fileWith('{"domain": "file.test", "api_port": 1, "federation_port": 1, "log_level": "debug"}');
    const env = { HEARTH_CONFIG: file, HEARTH_API_PORT: '2', HEARTH_FEDERATION_PORT: '2' };
    const config = loadConfig(env, { apiPort: '3', federationHost: undefined });
    expect(config).toMatchObject({ domain: 'file.test', apiPort: 3, federationPort: 2, logLevel: 'debug' });
  });

  it('reads maps and lists from text and from JSON alike', () => {
    const fromText = loadConfig({
      HEARTH_RESOLVE: 'beta.test=http://127.0.0.1:7520, gamma.example=https://10.0.0.1',
      HEARTH_EFFECT_ORIGINS: 'http://127.0.0.1:9000,http://localhost:9001',
    });
    const fromFile = loadConfig({
      HEARTH_CONFIG: fileWith(
        '{"resolve": {"beta.test": "http://127.0.0.1:7520", "gamma.example": "https://10.0.0.1"},' +
          '"effect_origins": ["http://127.0.0.1:9000", "http://localhost:9001"]}',
      ),
    });
    expect([...fromText.resolve]).toEqual([
      ['beta.test', 'http://127.0.0.1:7520'],
      ['gamma.example', 'https://10.0.0.1'],
    ]);
    expect(fromFile.resolve).toEqual(fromText.resolve);
    expect(fromFile.effectOrigins).toEqual(fromText.effectOrigins);
  });

  it('takes DATABASE_URL, prefers its own variable, and reads a file', () => {
    const file = fileWith('postgres://user:pw@db/hearth\n');
    expect(loadConfig({ DATABASE_URL: 'postgres://a/b' }).databaseUrl).toBe('postgres://a/b');
    expect(loadConfig({ DATABASE_URL: 'postgres://a/b', HEARTH_DATABASE_URL: 'postgresql://c/d' }).databaseUrl).toBe(
      'postgresql://c/d',
    );
    expect(loadConfig({ DATABASE_URL: 'postgres://a/b', HEARTH_DATABASE_URL_FILE: file }).databaseUrl).toBe(
      'postgres://user:pw@db/hearth',
    );
  });

  it('lets an empty variable mean "not set" and ignores what is not its own', () => {
    expect(loadConfig({ HEARTH_DOMAIN: '', HEARTH_TOKEN: 'x', PATH: '/bin' }).domain).toBe('alpha.test');
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a typo', { HEARTH_DOMIAN: 'a.test' }, /no environment variable HEARTH_DOMIAN\. Did you mean HEARTH_DOMAIN\?/],
    ['an unknown name', { HEARTH_COLOUR: 'red' }, /no environment variable HEARTH_COLOUR\. Known are HEARTH_API_HOST/],
    [
      'an upper-case domain',
      { HEARTH_DOMAIN: 'Acme.example' },
      /domain \(HEARTH_DOMAIN\): "Acme\.example" is not a domain/,
    ],
    ['a domain with a port', { HEARTH_DOMAIN: 'acme.example:443' }, /is not a domain/],
    ['a port out of range', { HEARTH_API_PORT: '65536' }, /api_port \(HEARTH_API_PORT\): must be a port/],
    ['a port in words', { HEARTH_API_PORT: 'seven' }, /api_port \(HEARTH_API_PORT\): must be a whole number/],
    ['an http gateway', { HEARTH_PUBLIC_URL: 'http://acme.example' }, /public_url .*must be https/],
    ['a gateway with a path', { HEARTH_PUBLIC_URL: 'https://acme.example/x' }, /public_url .*must be an origin/],
    ['a public domain mapped', { HEARTH_RESOLVE: 'acme.com=http://127.0.0.1:1' }, /resolve .*may map only names/],
    ['a map without target', { HEARTH_RESOLVE: 'beta.test' }, /resolve .*must be an origin/],
    ['a bad effect origin', { HEARTH_EFFECT_ORIGINS: 'http://127.0.0.1/x' }, /effect_origins .*must be an origin/],
    [
      'a database of another kind',
      { HEARTH_DATABASE_URL: 'mysql://u:secret@h/d' },
      /database_url .*must begin with postgres/,
    ],
    ['a missing database file', { HEARTH_DATABASE_URL_FILE: '/nowhere' }, /there is no file \/nowhere/],
    ['two database URLs', { HEARTH_DATABASE_URL: 'postgres://a/b', HEARTH_DATABASE_URL_FILE: '/x' }, /are both set/],
    ['a log level', { HEARTH_LOG_LEVEL: 'loud' }, /log_level .*must be one of trace, debug/],
    ['a dialled clock', { HEARTH_DOMAIN: 'acme.com', HEARTH_CLOCK_OFFSET_MS: '5' }, /refused for acme\.com/],
    ['a missing file', { HEARTH_CONFIG: '/nowhere.json' }, /file \/nowhere\.json can not be used/],
  ])('refuses %s with a sentence', (_, env, sentence) => {
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(sentence);
  });

  it('never repeats a secret in its refusal (BR-89)', () => {
    expect(() => loadConfig({ HEARTH_DATABASE_URL: 'mysql://u:canary@h/d' })).not.toThrow(/canary/);
    expect(() => loadConfig({ HEARTH_DATABSE_URL: 'postgres://u:canary@h/d' })).not.toThrow(/canary/);
  });

  it('refuses unknown keys of the file and unknown options, naming the nearest', () => {
    expect(() => loadConfig({ HEARTH_CONFIG: fileWith('{"domian": "a.test"}') })).toThrow(/Did you mean domain\?/);
    expect(() => loadConfig({ HEARTH_CONFIG: fileWith('[]') })).toThrow(/must hold one JSON object/);
    expect(() => loadConfig({}, { apiProt: '1' })).toThrow(/no option api_prot\. Did you mean api_port\?/);
  });

  it('names every problem at once', () => {
    const env = { HEARTH_DOMAIN: 'A', HEARTH_API_PORT: '-1' };
    expect(() => loadConfig(env)).toThrow(/domain .*\napi_port/);
  });

  it('describes every setting', () => {
    const rows = describeSettings();
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter(({ description }) => description.length < 20)).toEqual([]);
    expect(rows[0]).toMatchObject({ name: 'domain', variable: 'HEARTH_DOMAIN', flag: '--domain' });
  });
});
