// JWS in both forms, with a header that may be changed to something wrong.
import { canonicalJson } from './canonical-json.js';
import { base64url, fromBase64url } from './encoding.js';
import { parseJson, textOf } from './json.js';
import { type SigningKey, verifies } from './keys.js';

export interface JwsDraft {
  readonly typ: string;
  readonly payload: unknown;
  readonly key: SigningKey;
  /** Members that replace or join those of the header. */
  readonly header?: Readonly<Record<string, unknown>>;
}

export function compactJws({ typ, payload, key, header = {} }: JwsDraft): string {
  const head = base64url(canonicalJson({ alg: 'Ed25519', kid: key.kid, typ, ...header }));
  const input = `${head}.${base64url(typeof payload === 'string' ? payload : canonicalJson(payload))}`;
  return `${input}.${base64url(key.sign(input))}`;
}

/** The general JSON form, signed by each of the keys. */
export function generalJws(typ: string, payload: unknown, keys: readonly SigningKey[]): string {
  const body = base64url(canonicalJson(payload));
  const signatures = keys.map((key) => {
    const head = base64url(canonicalJson({ alg: 'Ed25519', kid: key.kid, typ }));
    return { protected: head, signature: base64url(key.sign(`${head}.${body}`)) };
  });
  return JSON.stringify({ payload: body, signatures });
}

export interface ReadJws {
  readonly header: unknown;
  readonly payload: unknown;
  readonly payloadText: string;
  /** What was signed, and the signature over it. */
  readonly input: string;
  readonly signature: Buffer;
}

export function readJws(protectedHeader: string, payload: string, signature: string): ReadJws | undefined {
  const [head, body, sealed] = [protectedHeader, payload, signature].map(fromBase64url);
  if (!head || !body || !sealed) return undefined;
  const payloadText = body.toString('utf8');
  return {
    header: parseJson(head.toString('utf8')),
    payload: parseJson(payloadText),
    payloadText,
    input: `${protectedHeader}.${payload}`,
    signature: sealed,
  };
}

export function readCompactJws(token: string): ReadJws | undefined {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  return rest.length > 0 ? undefined : readJws(header, payload, signature);
}

/** What does not hold about algorithm, type, key or signature; undefined when all is well. */
export function jwsFault(jws: ReadJws | undefined, typ: string, keys: ReadonlyMap<string, string>): string | undefined {
  if (!jws) return 'it is not three parts of base64url';
  if (textOf(jws.header, 'alg') !== 'Ed25519') return `alg is ${textOf(jws.header, 'alg')}`;
  if (textOf(jws.header, 'typ') !== typ) return `typ is ${textOf(jws.header, 'typ')}, not ${typ}`;
  const x = keys.get(textOf(jws.header, 'kid'));
  if (x === undefined) return `kid ${textOf(jws.header, 'kid')} is not a key of the bundle`;
  return verifies(x, jws.input, jws.signature) ? undefined : 'the signature does not hold';
}
