/**
 * Signed JSON documents (JWS), each kind with its own `typ`. Assembled over the custody port, verified with jose.
 * The key is chosen by the reader's own records; `jku`, `jwk` and `x5u` in a token are ignored, `crit` is refused.
 */

import { compactVerify } from 'jose';
import { canonicalize } from './canonical-json.js';
import type { PublicKey, Sign } from './ed25519.js';
import { fromBase64url, fromUtf8, toBase64url, toUtf8 } from './encoding.js';
import { Problem, type Refusal, refuse } from './problem.js';
import { type JsonValue, parseStrictJson } from './strict-json.js';

export type JwsType =
  | 'bundle+jwt'
  | 'agent-key+jwt'
  | 'receipt+jwt'
  | 'capability-lease+jwt'
  | 'placement+jwt'
  | 'relationship+jwt';

export type JwsDraft = { readonly typ: JwsType; readonly kid: string; readonly payload: unknown };

export type KeyLookup = (kid: string) => PublicKey | undefined;

export type ProveJwsOptions = { readonly typ: JwsType; readonly keys: KeyLookup };

export type VerifiedJws = {
  readonly ok: true;
  readonly kid: string;
  readonly payloadBytes: Uint8Array;
  readonly payload: JsonValue;
};

export type JwsRefusal = Refusal<'jws_malformed' | 'jws_wrong_type' | 'jws_unknown_key' | 'jws_signature_invalid'>;

/** What a token says before anything is verified: good for choosing a key, for nothing else. */
export type UnverifiedJws = {
  readonly ok: true;
  readonly token: string;
  readonly typ: string;
  readonly kid: string;
  readonly payload: JsonValue;
};

const HEADER_BYTES = 1024;
const SEGMENT = /^[A-Za-z0-9_-]+$/;

/** Signs a payload (in canonical JSON) into a compact token. */
export async function assembleJws(draft: JwsDraft, sign: Sign): Promise<string> {
  const header = toBase64url(toUtf8(canonicalize({ alg: 'Ed25519', kid: draft.kid, typ: draft.typ })));
  const input = `${header}.${toBase64url(toUtf8(canonicalize(draft.payload)))}`;
  return `${input}.${toBase64url(await sign(toUtf8(input)))}`;
}

/** Verifies a token that was read: exact type, algorithm and key. */
export async function proveJws(read: UnverifiedJws, options: ProveJwsOptions): Promise<VerifiedJws | JwsRefusal> {
  if (read.typ !== options.typ) return refuse('jws_wrong_type', `typ is ${read.typ}, not ${options.typ}`);
  const key = options.keys(read.kid);
  if (!key) return refuse('jws_unknown_key', `no trusted key ${read.kid}`);
  try {
    const { payload } = await compactVerify(read.token, key.keyObject, { algorithms: ['Ed25519'] });
    return { ok: true, kid: read.kid, payloadBytes: new Uint8Array(payload), payload: read.payload };
  } catch {
    // jose tells the kinds of failure apart; a reader needs only to know that it does not hold.
    return refuse('jws_signature_invalid', 'the signature does not hold');
  }
}

/** Reads a compact token, strict JSON in header and payload, without verifying it. */
export function readJws(token: string, maxBytes: number): UnverifiedJws | JwsRefusal {
  if (token.length > maxBytes) return refuse('jws_malformed', `the token is longer than ${maxBytes} bytes`);
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) {
    return refuse('jws_malformed', 'the token has not three parts');
  }
  if (!SEGMENT.test(signature) || !fromBase64url(signature))
    return refuse('jws_malformed', 'the signature is not base64url');
  const head = readSegment(header, HEADER_BYTES);
  if (head === undefined) return refuse('jws_malformed', 'the header is not strict JSON in base64url');
  const fields = readHeader(head);
  if (!fields) return refuse('jws_malformed', 'the header needs alg Ed25519, typ and kid, and no crit');
  const body = readSegment(payload, maxBytes);
  if (body === undefined) return refuse('jws_malformed', 'the payload is not strict JSON in base64url');
  return { ok: true, token, ...fields, payload: body };
}

function readHeader(head: JsonValue): { typ: string; kid: string } | undefined {
  if (typeof head !== 'object' || head === null || Array.isArray(head)) return undefined;
  const { alg, typ, kid, crit } = head;
  if (alg !== 'Ed25519' || crit !== undefined) return undefined;
  return typeof typ === 'string' && typeof kid === 'string' ? { typ, kid } : undefined;
}

function readSegment(segment: string, maxBytes: number): JsonValue | undefined {
  const bytes = fromBase64url(segment);
  if (!bytes || fromUtf8(bytes) === undefined) return undefined;
  try {
    return parseStrictJson(bytes, { maxBytes });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
