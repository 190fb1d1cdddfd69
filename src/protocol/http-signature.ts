/**
 * Requests between domains, signed by RFC 9421 with the one profile `agent-federation/1`. This file is the only user of
 * http-message-sig. Each failure names the component that did not hold, since most are a proxy's or a clock's doing.
 */

import {
  createSignature,
  isSignatureError,
  type SignatureError,
  type UntrustedSignatureCandidate,
  type Verifier,
  verifySignature as verifyMessageSignature,
} from 'http-message-sig';
import { type Domain, type KeyRef, parseDomain, parseKeyRef } from './address.js';
import { type PublicKey, type Sign, verifySignature } from './ed25519.js';
import { contentDigestHeader, fromBase64url, fromNumericDate, toNumericDate, verifyContentDigest } from './encoding.js';
import { LIMITS } from './limits.js';
import { Problem, type ProblemCode } from './problem.js';

/** Not exported: only this file can make a VerifiedRequest. */
const proof = Symbol('VerifiedRequest');

export type RequestToSign = {
  readonly method: string;
  /** The advertised gateway URL, never what is dialled. */
  readonly targetUri: string;
  readonly body?: Uint8Array;
  readonly contentType?: string;
  readonly origin: Domain;
  readonly destination: Domain;
  readonly keyRef: KeyRef;
  readonly created: Date;
  /** Base64url of at least 16 random bytes, new for each attempt. */
  readonly nonce: string;
  readonly sign: Sign;
};

export type ReceivedRequest = {
  readonly method: string;
  readonly targetUri: string;
  /** Name and value as received, repeats included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly now: Date;
  readonly destination: Domain;
  readonly keyFor: (keyRef: KeyRef, origin: Domain) => Promise<PublicKey | undefined>;
};

/** A request whose origin is proved. The caller still has to remember the nonce for `LIMITS.nonceMemoryMs`. */
export type VerifiedRequest = {
  readonly origin: Domain;
  readonly destination: Domain;
  readonly keyRef: KeyRef;
  readonly nonce: string;
  readonly created: Date;
  readonly expires: Date;
  readonly [proof]: 'request';
};

const TAG = 'agent-federation/1';
const ALGORITHM = 'ed25519';
const DOMAIN_COMPONENTS = ['fed-origin', 'fed-destination'];
const CONTENT_COMPONENTS = ['content-digest', 'content-type'];
const PARAMETERS = ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'];
const SINGLE_FIELDS = [...CONTENT_COMPONENTS, ...DOMAIN_COMPONENTS, 'signature', 'signature-input'];

/** The headers to add to the request. */
export async function signRequest(request: RequestToSign): Promise<Record<string, string>> {
  const headers: Record<string, string> = { 'fed-origin': request.origin, 'fed-destination': request.destination };
  if (hasContent(request.method)) {
    headers['content-digest'] = contentDigestHeader(request.body ?? new Uint8Array());
    headers['content-type'] = request.contentType ?? 'application/json';
  } else if (request.body !== undefined) {
    throw new TypeError(`${request.method} carries no body`);
  }
  const created = toNumericDate(request.created);
  const fields = await createSignature(
    {
      kind: 'request',
      method: request.method,
      targetUri: request.targetUri,
      fields: toFields(Object.entries(headers)),
    },
    {
      label: 'fed',
      components: componentsOf(request.method),
      parameters: {
        created,
        expires: created + LIMITS.signatureWindowMs / 1000,
        nonce: request.nonce,
        keyid: request.keyRef,
        alg: ALGORITHM,
        tag: TAG,
      },
      signer: { algorithm: ALGORITHM, sign: request.sign },
    },
  );
  return { ...headers, 'signature-input': fields.signatureInput, signature: fields.signature };
}

/** Proves the origin of a request, or throws a Problem that names the component. Cheap checks run before any key is asked for. */
export async function verifyRequest(request: ReceivedRequest): Promise<VerifiedRequest> {
  checkFields(request);
  const origin = readOrigin(request);
  checkContent(request);
  let proved: VerifiedRequest | undefined;
  try {
    await verifyMessageSignature(
      { kind: 'request', method: request.method, targetUri: request.targetUri, fields: toFields(request.headers) },
      {
        policy: {
          algorithms: [ALGORITHM],
          requiredComponents: componentsOf(request.method),
          requiredParameters: PARAMETERS,
          now: toNumericDate(request.now),
          clockSkew: LIMITS.clockSkewMs / 1000,
        },
        resolveVerifier: async (candidate) => {
          proved = readCandidate(candidate, request, origin);
          return verifierOf(await request.keyFor(proved.keyRef, origin), proved.keyRef);
        },
      },
    );
  } catch (error) {
    throw isSignatureError(error) ? toProblem(error, request) : error;
  }
  if (!proved) throw fail('signature_invalid', 'signature', 'no signature was verified');
  return proved;
}

function componentsOf(method: string): string[] {
  return ['@method', '@target-uri', ...(hasContent(method) ? CONTENT_COMPONENTS : []), ...DOMAIN_COMPONENTS];
}

function hasContent(method: string): boolean {
  return method !== 'GET';
}

function toFields(headers: Iterable<readonly [string, string]>): { name: string; value: string }[] {
  const covered = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    // Only what the profile reads: a stray header elsewhere must not decide about the signature.
    if (SINGLE_FIELDS.includes(lower)) covered.push({ name: lower, value });
  }
  return covered;
}

function checkFields(request: ReceivedRequest): void {
  const present = new Map<string, number>();
  for (const { name, value } of toFields(request.headers)) {
    present.set(name, (present.get(name) ?? 0) + 1);
    if (value.length > LIMITS.signatureFieldBytes) throw fail('signature_invalid', name, `${name} is too long`);
  }
  for (const name of SINGLE_FIELDS) {
    const count = present.get(name) ?? 0;
    const wanted = hasContent(request.method) || !CONTENT_COMPONENTS.includes(name);
    if (wanted && count === 0) throw fail('signature_invalid', name, `the ${name} header is missing`);
    if (count > 1) throw fail('signature_invalid', name, `the ${name} header appears ${count} times`);
  }
}

function readOrigin(request: ReceivedRequest): Domain {
  const destination = fieldOf(request, 'fed-destination');
  if (destination !== request.destination) {
    throw fail('wrong_destination', 'fed-destination', `this is ${request.destination}, not ${destination}`);
  }
  const origin = parseDomain(fieldOf(request, 'fed-origin'));
  if (!origin) throw fail('signature_invalid', 'fed-origin', 'fed-origin is not a domain name');
  return origin;
}

function checkContent(request: ReceivedRequest): void {
  if (!hasContent(request.method)) {
    if (request.body.byteLength > 0 || announcesBody(request.headers))
      throw fail('signature_invalid', 'content-digest', `${request.method} carries no body`);
    return;
  }
  if (!verifyContentDigest(fieldOf(request, 'content-digest'), request.body)) {
    throw fail('digest_mismatch', 'content-digest', 'content-digest is not the digest of the body received');
  }
}

/** REQUESTS-3: nobody reads the body of a GET, so what announces one is enough to refuse it. */
function announcesBody(headers: ReceivedRequest['headers']): boolean {
  return headers.some(([name, value]) => {
    const lower = name.toLowerCase();
    return lower === 'transfer-encoding' || (lower === 'content-length' && value.trim() !== '0');
  });
}

function fieldOf(request: ReceivedRequest, name: string): string {
  return (
    toFields(request.headers)
      .find((field) => field.name === name)
      ?.value.trim() ?? ''
  );
}

function readCandidate(
  candidate: UntrustedSignatureCandidate,
  request: ReceivedRequest,
  origin: Domain,
): VerifiedRequest {
  const { created = 0, expires = 0, nonce = '', keyid = '', tag, alg } = candidate.parameters;
  if (tag !== TAG) throw fail('signature_invalid', 'tag', `the tag is not ${TAG}`);
  if (alg !== ALGORITHM) throw fail('signature_invalid', 'alg', `alg is not ${ALGORITHM}`);
  checkComponents(candidate, request.method);
  const windowS = LIMITS.signatureWindowMs / 1000;
  if (expires <= created || expires > created + windowS) {
    throw fail('signature_invalid', 'expires', `expires is not within ${windowS} s after created`);
  }
  const now = toNumericDate(request.now);
  if (created > now + LIMITS.clockSkewMs / 1000) {
    throw fail('signature_invalid', 'created', `created lies ${created - now} s ahead of this clock`);
  }
  if (expires <= now) throw fail('signature_invalid', 'expires', `expired ${now - expires} s ago by this clock`);
  const nonceBytes = fromBase64url(nonce)?.byteLength ?? 0;
  if (nonceBytes < LIMITS.nonceBytesMin || nonceBytes > LIMITS.nonceBytesMax) {
    throw fail('signature_invalid', 'nonce', `the nonce is not base64url of ${LIMITS.nonceBytesMin} bytes or more`);
  }
  const keyRef = parseKeyRef(keyid);
  if (keyRef?.owner !== 'domain' || keyRef.domain !== origin) {
    throw fail('signature_invalid', 'keyid', 'keyid is not a domain key of fed-origin');
  }
  return {
    origin,
    destination: request.destination,
    keyRef: keyRef.keyRef,
    nonce,
    created: fromNumericDate(created),
    expires: fromNumericDate(expires),
    [proof]: 'request',
  };
}

/** Exactly the components of the profile: one more, or one with a parameter, would be another statement. */
function checkComponents(candidate: UntrustedSignatureCandidate, method: string): void {
  const wanted = componentsOf(method);
  for (const { name, parameters } of candidate.components) {
    if (Object.keys(parameters).length > 0)
      throw fail('signature_invalid', name, `${name} is covered with a parameter`);
    if (!wanted.includes(name)) throw fail('signature_invalid', name, `${name} is not a component of ${TAG}`);
  }
}

function verifierOf(key: PublicKey | undefined, keyRef: KeyRef): Verifier {
  if (!key) throw fail('signature_invalid', 'keyid', `${keyRef} is not a current key of its domain`);
  return { algorithm: ALGORITHM, verify: (data, signature) => verifySignature(key, data, signature) };
}

function toProblem(error: SignatureError, request: ReceivedRequest): unknown {
  // What our own resolver threw says more than the library's wrapping of it.
  if (error.code === 'ResolverFailed') return error.cause;
  if (error.code === 'VerificationFailed') {
    return fail(
      'signature_invalid',
      'signature',
      `the signature does not hold over @method ${request.method}, @target-uri ${request.targetUri} and the signed headers`,
    );
  }
  return fail('signature_invalid', 'signature-input', error.message);
}

function fail(code: ProblemCode, component: string, detail: string): Problem {
  return new Problem(code, detail, { extra: { component } });
}
