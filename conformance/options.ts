// The command line of `hearth-conformance`.
import { parseArgs } from 'node:util';

export interface Options {
  readonly target: string;
  readonly domain: string | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  readonly originDomain: string;
  readonly privateUrl: string | undefined;
  readonly token: string | undefined;
  readonly identityFile: string;
  readonly json: string | undefined;
  readonly junit: string | undefined;
  readonly expectedFailures: string | undefined;
  readonly only: readonly string[];
  readonly timeoutMs: number;
  readonly action: 'run' | 'list' | 'setup' | 'help';
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const usage = `Usage: hearth-conformance --target URL [options]

Plays a peer domain and checks what the target does against the specification.

  --target URL              the federation door of the domain under test
  --domain NAME             its domain (default: what its discovery document says)
  --listen HOST:PORT        where the played domains listen (default: 127.0.0.1:7600)
  --origin-domain NAME      the name of the played domain (default: conformance.test)
  --private-url URL         the private door of the target
  --token TOKEN             an operator's token for it (or HEARTH_TOKEN)
  --identity FILE           the secret of the played domains' keys (default: hearth-conformance.identity)
  --only NAME,ID,...        only these scenarios or requirements
  --expected-failures FILE  ids that are known to fail
  --json FILE, --junit FILE reports for programs
  --timeout SECONDS         for the whole run (default: 300)
  --setup                   show the set-up of the target in hearth commands
  --list                    show every scenario and check

Exit codes: 0 conforms as far as it was looked at, 1 does not, 2 wrong usage, 3 the target does not answer.
`;

const known = {
  target: { type: 'string' },
  domain: { type: 'string' },
  listen: { type: 'string', default: '127.0.0.1:7600' },
  'origin-domain': { type: 'string', default: 'conformance.test' },
  'private-url': { type: 'string' },
  token: { type: 'string' },
  identity: { type: 'string', default: 'hearth-conformance.identity' },
  json: { type: 'string' },
  junit: { type: 'string' },
  'expected-failures': { type: 'string' },
  only: { type: 'string', multiple: true },
  timeout: { type: 'string', default: '300' },
  list: { type: 'boolean', default: false },
  setup: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export function readOptions(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Options {
  const values = parse(args);
  const action = values.help ? 'help' : values.list ? 'list' : values.setup ? 'setup' : 'run';
  if (action === 'run' && values.target === undefined) throw new UsageError('--target is missing');
  const seconds = Number(values.timeout);
  if (!(seconds > 0)) throw new UsageError('--timeout is a number of seconds');
  return {
    target: originOf('--target', values.target ?? 'http://127.0.0.1:7420'),
    domain: values.domain,
    listen: addressOf(values.listen),
    originDomain: values['origin-domain'],
    privateUrl: values['private-url'] === undefined ? undefined : originOf('--private-url', values['private-url']),
    token: values.token ?? env.HEARTH_TOKEN,
    identityFile: values.identity,
    json: values.json,
    junit: values.junit,
    expectedFailures: values['expected-failures'],
    only: (values.only ?? []).flatMap((list) => list.split(',')).filter((name) => name !== ''),
    timeoutMs: seconds * 1000,
    action,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function originOf(option: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw new UsageError(`${option} is no URL`);
  return text.replace(/\/+$/, '');
}

function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined || port === undefined) throw new UsageError('--listen is HOST:PORT');
  return { host, port: Number(port) };
}
