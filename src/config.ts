// Every setting of a domain, in one table: flag, environment (HEARTH_*), file (hearth.config.json), default, in this order.
// The environment is read here and nowhere else; what is unknown or wrong stops the start with a sentence that helps.
import { existsSync } from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { z } from 'zod';
import { nearestName } from './config-names.js';
import { logLevels, type ResolveMap, readBoundedFile, StartRefused } from './platform/index.js';
import { type Domain, isReservedDomain, parseDomain, parseStrictJson } from './protocol/index.js';

export class ConfigError extends StartRefused {
  override readonly name = 'ConfigError';
}

const domainName = z.string().transform((text, context): Domain => {
  const domain = parseDomain(text);
  if (domain) return domain;
  context.addIssue(
    `"${text}" is not a domain: lower-case labels joined by dots, like acme.example, without port or trailing dot`,
  );
  return z.NEVER;
});

const whole = z.union(
  [
    z.number(),
    z
      .string()
      .regex(/^-?\d+$/)
      .transform(Number),
  ],
  'must be a whole number',
);
const port = whole.pipe(z.number().int().min(0).max(65_535, 'must be a port: 0 to 65535, where 0 takes a free one'));
const host = z.string().regex(/^[A-Za-z0-9.:_-]+$/, 'must be a host name or address to listen on, like 127.0.0.1');
const path = z.string().min(1);

const origin = z.string().transform((text, context): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && `${url.origin}/` === url.href) return url.origin;
  context.addIssue('must be an origin like http://127.0.0.1:7520: scheme, host and port, nothing after');
  return z.NEVER;
});

const list = z.union([
  z.array(z.string()),
  z.string().transform((text) => text.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]))),
]);

const pairs = list.transform((items) => items.map((item) => splitPair(item)));
const resolveMap = z
  .union([z.record(z.string(), z.string()).transform((map) => Object.entries(map)), pairs])
  .pipe(
    z.array(
      z.tuple([
        domainName.refine(
          isReservedDomain,
          'may map only names that no public domain has: .test, .example, .invalid, .localhost',
        ),
        origin,
      ]),
    ),
  )
  .transform((entries): ResolveMap => new Map(entries));

const longestFile = 1024 * 1024;

/** The table. The description is shown by `hearth start --help` and in the documentation. */
const settings = {
  domain: domainName
    .prefault('alpha.test')
    .describe('The name of this federation domain; it is inside every address and can not be changed later.'),
  data_directory: path
    .default('./hearth-data')
    .describe('Where the domain keeps its keys and, without a database URL, its PostgreSQL.'),
  public_url: origin
    .refine((text) => text.startsWith('https://'), 'must be https')
    .optional()
    .describe('The gateway that peers are told to call. Default: https://{domain}.'),
  federation_host: host.default('127.0.0.1').describe('The address the federation door listens on.'),
  federation_port: port.default(7420).describe('The port of the federation door; 0 takes a free one.'),
  api_host: host
    .default('127.0.0.1')
    .describe('The address the private door (agent and admin API) listens on; keep it on loopback.'),
  api_port: port.default(7421).describe('The port of the private door; 0 takes a free one.'),
  database_url: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
    .optional()
    .describe('A PostgreSQL 15 or newer to use instead of the embedded one. DATABASE_URL is read as well.'),
  database_url_file: path
    .optional()
    .describe('A file that holds the database URL, so that its password is in no environment.'),
  resolve: resolveMap
    .default(new Map())
    .describe(
      'For development: domains and the origins dialled for them, like beta.test=http://127.0.0.1:7520. Reserved names only.',
    ),
  key_encryption_key_file: path
    .optional()
    .describe(
      'The key that encrypts private keys at rest. Default: {data_directory}/keys/kek, made at the first start.',
    ),
  effect_origins: list
    .pipe(z.array(origin))
    .default([])
    .describe('Origins that HTTP effects may call although they are private or plain http.'),
  log_level: z
    .enum(logLevels, `must be one of ${logLevels.join(', ')}`)
    .default('info')
    .describe('How much the log says.'),
  clock_offset_ms: whole
    .default(0)
    .describe('For tests: moves the clock of the domain. Refused unless the domain ends in .test.'),
};

const table = z.strictObject(settings);
const names = Object.keys(settings).sort();

// HEARTH_ variables of the command line and the tests; a start has no use for them and no quarrel with them.
const otherVariables = ['HEARTH_CONFIG', 'HEARTH_URL', 'HEARTH_TOKEN', 'HEARTH_TEST_LONG'];

export interface Config {
  domain: Domain;
  dataDirectory: string;
  publicUrl: string;
  federationHost: string;
  federationPort: number;
  apiHost: string;
  apiPort: number;
  databaseUrl: string | undefined;
  resolve: ResolveMap;
  keyEncryptionKeyFile: string;
  /** Only the default file is made when it is missing; one that was named must be there. */
  keyEncryptionKeyIsDefault: boolean;
  effectOrigins: string[];
  logLevel: (typeof logLevels)[number];
  clockOffsetMs: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** `flags` are the options of the command line in camelCase, `config` among them. */
export function loadConfig(env: Environment, flags: Readonly<Record<string, unknown>> = {}): Config {
  const { config, ...flagged } = flags;
  const chosen = { ...readFileSettings(config ?? env.HEARTH_CONFIG), ...readEnvironment(env), ...readFlags(flagged) };
  const parsed = table.safeParse(chosen);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(sentenceOf).join('\n'));
  return complete(parsed.data);
}

/** One row per setting, for help texts. */
export function describeSettings(): { name: string; variable: string; flag: string; description: string }[] {
  return Object.entries(settings).map(([name, schema]) => ({
    name,
    variable: variableOf(name),
    flag: `--${name.replaceAll('_', '-')}`,
    description: schema.description ?? '',
  }));
}

function complete(data: z.infer<typeof table>): Config {
  if (data.database_url && data.database_url_file) {
    throw new ConfigError('database_url and database_url_file are both set; give one of them.');
  }
  if (data.clock_offset_ms !== 0 && !data.domain.endsWith('.test')) {
    throw new ConfigError(
      `clock_offset_ms is for tests and is refused for ${data.domain}, which does not end in .test.`,
    );
  }
  const dataDirectory = resolvePath(data.data_directory);
  return {
    domain: data.domain,
    dataDirectory,
    publicUrl: data.public_url ?? `https://${data.domain}`,
    federationHost: data.federation_host,
    federationPort: data.federation_port,
    apiHost: data.api_host,
    apiPort: data.api_port,
    databaseUrl: data.database_url ?? (data.database_url_file && readDatabaseUrl(data.database_url_file)),
    resolve: data.resolve,
    keyEncryptionKeyFile: resolvePath(data.key_encryption_key_file ?? join(dataDirectory, 'keys', 'kek')),
    keyEncryptionKeyIsDefault: data.key_encryption_key_file === undefined,
    effectOrigins: data.effect_origins,
    logLevel: data.log_level,
    clockOffsetMs: data.clock_offset_ms,
  };
}

function readEnvironment(env: Environment): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (env.DATABASE_URL) found.database_url = env.DATABASE_URL;
  const variables = names.map(variableOf);
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('HEARTH_') || otherVariables.includes(variable)) continue;
    if (!variables.includes(variable)) throw unknownName('environment variable', variable, variables);
    // An empty variable is how compose files and shells say "not set".
    if (value) found[variable.slice('HEARTH_'.length).toLowerCase()] = value;
  }
  // The file was named on purpose, for this start; DATABASE_URL is often just there.
  if (found.database_url_file && !env.HEARTH_DATABASE_URL) delete found.database_url;
  return found;
}

function readFlags(flags: Record<string, unknown>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [flag, value] of Object.entries(flags)) {
    const name = flag.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!names.includes(name)) throw unknownName('option', name, names);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function readFileSettings(named: unknown): Record<string, unknown> {
  const file = typeof named === 'string' && named !== '' ? named : undefined;
  if (file === undefined && !existsSync('hearth.config.json')) return {};
  const from = file ?? 'hearth.config.json';
  const content = parseFile(from);
  for (const name of Object.keys(content)) {
    if (!names.includes(name)) throw unknownName(`setting in ${from}`, name, names);
  }
  return content;
}

function parseFile(file: string): Record<string, unknown> {
  try {
    const content = parseStrictJson(readBoundedFile(file, longestFile), { maxBytes: longestFile });
    return z.record(z.string(), z.unknown()).parse(content);
  } catch (cause) {
    const why = cause instanceof z.ZodError ? 'it must hold one JSON object' : String(cause);
    throw new ConfigError(`The configuration file ${file} can not be used: ${why}.`, { cause });
  }
}

function readDatabaseUrl(file: string): string {
  const url = existsSync(file) ? readBoundedFile(file, longestFile).trim() : undefined;
  if (url === undefined) throw new ConfigError(`database_url_file: there is no file ${file}.`);
  if (!settings.database_url.safeParse(url).success) {
    throw new ConfigError(`database_url_file: ${file} must hold one line that begins with postgres://.`);
  }
  return url;
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0] ?? '');
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().find(({ code }) => code === 'custom') : undefined;
  const message = (inner?.message ?? issue.message).replace(/[.]$/, '');
  return `${name} (${variableOf(name)}): ${message}.`;
}

function unknownName(what: string, name: string, known: readonly string[]): ConfigError {
  const nearest = nearestName(name, known);
  const advice = nearest ? `Did you mean ${nearest}?` : `Known are ${known.join(', ')}.`;
  return new ConfigError(`There is no ${what} ${name}. ${advice}`);
}

function variableOf(name: string): string {
  return `HEARTH_${name.toUpperCase()}`;
}

function splitPair(item: string): [string, string] {
  const at = item.indexOf('=');
  return at < 0 ? [item, ''] : [item.slice(0, at), item.slice(at + 1)];
}
