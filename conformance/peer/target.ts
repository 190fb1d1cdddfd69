// The domain under test: where its doors are, what it says of itself, and its keys.
import { listOf, memberOf, parseJson, textOf } from '../wire/json.js';
import { readJws } from '../wire/jws.js';
import { call, type Reply } from './http-client.js';

export interface Target {
  /** What is dialled. */
  readonly url: string;
  readonly domain: string;
  /** What it advertises, and what signatures cover. */
  readonly gateway: string;
  readonly discovery: unknown;
  readonly bundle: unknown;
  /** Domain keys by kid, current and retired. */
  readonly keys: ReadonlyMap<string, string>;
  get(path: string): Promise<Reply>;
}

export interface FindTarget {
  readonly url: string;
  readonly domain: string | undefined;
}

/** Asks the target who it is; what it says is judged by scenarios. */
export async function findTarget({ url, domain }: FindTarget): Promise<Target> {
  const get = (path: string) => call({ method: 'GET', url: `${url}${path}` });
  const document = await get('/.well-known/agent-federation');
  if (document.status !== 200) throw new Error(`${url}/.well-known/agent-federation answered ${document.status}`);
  const bundle = await get('/federation/v1/bundle');
  const token = memberOf(bundle.json, 'payload');
  const payload = readJws('', typeof token === 'string' ? token : '', '')?.payload;
  return {
    url,
    domain: domain ?? textOf(document.json, 'domain'),
    gateway: textOf(document.json, 'gateway'),
    discovery: document.json,
    bundle: payload,
    keys: keysOf(payload),
    get,
  };
}

export function keysOf(payload: unknown): ReadonlyMap<string, string> {
  const records = [...listOf(payload, 'keys'), ...listOf(payload, 'retired_keys')];
  return new Map(records.map((record) => [textOf(record, 'kid'), textOf(record, 'x')]));
}

/** The claims or payload of a token, unverified. */
export function payloadOf(token: string): unknown {
  return parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}
