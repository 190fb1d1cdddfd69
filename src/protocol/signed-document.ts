/**
 * One payload signed by several keys: the general JSON form of JWS. The domain bundle uses it, because it is signed by
 * every current key of the domain. Each signature is verified as the compact token it also is.
 */

import { canonicalize } from './canonical-json.js';
import type { Sign } from './ed25519.js';
import { toBase64url, toUtf8 } from './encoding.js';
import { assembleJws, type JwsType, type KeyLookup, proveJws, readJws, type UnverifiedJws } from './jws.js';
import { Problem, type Refusal, refuse } from './problem.js';
import { type JsonValue, parseStrictJson } from './strict-json.js';

export type DocumentSigner = { readonly kid: string; readonly sign: Sign };

export type ReadDocument = {
  readonly ok: true;
  readonly payload: JsonValue;
  /** One compact token per signature, in the order of the document. */
  readonly tokens: readonly UnverifiedJws[];
};

type DocumentLimits = { readonly typ: JwsType; readonly maxBytes: number; readonly maxSignatures: number };

/** Signs the payload with every signer; the result is the JSON text `{"payload", "signatures": [{protected, signature}]}`. */
export async function sealDocument(
  typ: JwsType,
  payload: unknown,
  signers: readonly DocumentSigner[],
): Promise<string> {
  const signatures = await Promise.all(
    signers.map(async ({ kid, sign }) => {
      const token = await assembleJws({ typ, kid, payload }, sign);
      const [header = '', , signature = ''] = token.split('.');
      return { protected: header, signature };
    }),
  );
  return JSON.stringify({ payload: toBase64url(toUtf8(canonicalize(payload))), signatures });
}

/** Takes a document apart without verifying any signature. */
export function readDocument(text: string, limits: DocumentLimits): ReadDocument | Refusal<'document_malformed'> {
  const parsed = parse(text, limits.maxBytes);
  if (!isGeneralForm(parsed)) return refuse('document_malformed', 'not a JWS in the general JSON form');
  const { payload, signatures } = parsed;
  if (signatures.length === 0 || signatures.length > limits.maxSignatures) {
    return refuse(
      'document_malformed',
      `${signatures.length} signatures where 1 to ${limits.maxSignatures} are allowed`,
    );
  }
  const tokens: UnverifiedJws[] = [];
  let content: JsonValue = null;
  for (const entry of signatures) {
    const token = `${entry.protected}.${payload}.${entry.signature}`;
    const read = readJws(token, limits.maxBytes);
    if (!read.ok) return refuse('document_malformed', read.detail);
    if (read.typ !== limits.typ) return refuse('document_malformed', `typ is ${read.typ}, not ${limits.typ}`);
    if (tokens.some(({ kid }) => kid === read.kid)) return refuse('document_malformed', `${read.kid} signs twice`);
    tokens.push(read);
    content = read.payload;
  }
  return { ok: true, payload: content, tokens };
}

/** The kids whose signatures hold, among the keys that the lookup knows. */
export async function holdingSignatures(
  document: ReadDocument,
  typ: JwsType,
  keys: KeyLookup,
): Promise<ReadonlySet<string>> {
  const holding = new Set<string>();
  for (const read of document.tokens) {
    const verified = await proveJws(read, { typ, keys });
    if (verified.ok) holding.add(read.kid);
  }
  return holding;
}

type GeneralForm = { payload: string; signatures: { protected: string; signature: string }[] };

function isGeneralForm(value: JsonValue | undefined): value is GeneralForm {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { payload, signatures } = value;
  if (typeof payload !== 'string' || !Array.isArray(signatures)) return false;
  return signatures.every(
    (entry) =>
      typeof entry === 'object' &&
      entry !== null &&
      !Array.isArray(entry) &&
      typeof entry.protected === 'string' &&
      typeof entry.signature === 'string',
  );
}

function parse(text: string, maxBytes: number): JsonValue | undefined {
  try {
    return parseStrictJson(text, { maxBytes });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
