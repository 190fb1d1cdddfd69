/**
 * The closed lists of what can go wrong: `ProblemCode` for a whole request (thrown, RFC 9457), `RefusalCode` for one item
 * of a batch (returned, and written into results and receipts).
 */

type ProblemRow = { readonly status: number; readonly title: string; readonly action: string };

const PROBLEMS = {
  malformed_json: row(
    400,
    'The body is not strict JSON',
    'Send UTF-8 JSON without duplicate members or unsafe numbers.',
  ),
  malformed_request: row(400, 'The request is not well-formed HTTP', 'Send it as RFC 9112 describes.'),
  too_slow: row(408, 'The request did not arrive in time', 'Send it again without pauses.'),
  headers_too_large: row(431, 'The header is too large', 'Send fewer or shorter header fields.'),
  schema_invalid: row(400, 'The request does not have the right shape', 'Compare it with the published schema.'),
  too_large: row(
    413,
    'The request passes a size limit',
    'Send less at once; the limits are in the discovery document.',
  ),
  unsupported_media_type: row(
    415,
    'The media type is not accepted',
    'Use the media type of the schema, with no encoding.',
  ),
  unauthorized: row(401, 'The request is not authenticated', 'Send a valid credential.'),
  forbidden: row(403, 'The caller may not do this', 'Ask an operator for the needed scope.'),
  not_found: row(404, 'There is nothing here for this caller', 'Check the id and the credential.'),
  method_not_allowed: row(405, 'The method is not allowed here', 'Use one of the methods in the Allow header.'),
  conflict: row(409, 'The state has changed meanwhile', 'Read the current state and decide again.'),
  idempotency_conflict: row(409, 'The idempotency key was used for another request', 'Use a new key for new content.'),
  idempotency_in_progress: row(
    409,
    'The first request with this idempotency key is still in work',
    'Send it again after Retry-After; the answer will be the same.',
  ),
  transaction_conflict: row(
    409,
    'The transaction id was used for another body',
    'Use a new transaction id for new content.',
  ),
  signature_invalid: row(401, 'The signature does not hold', 'Check the named component, the key and the public URL.'),
  digest_mismatch: row(
    401,
    'The body does not match its digest',
    'Compute the digest over the exact bytes that are sent.',
  ),
  replayed: row(401, 'This signed request was seen before', 'Sign each attempt afresh, with a new nonce.'),
  wrong_destination: row(
    421,
    'The request is addressed to another domain',
    'Send it to the gateway of its destination.',
  ),
  unknown_origin: row(401, 'The origin is not known here', 'Check that the origin publishes its discovery and bundle.'),
  key_inadmissible: row(400, 'The public key is not admitted', 'Use a canonical Ed25519 key of prime order.'),
  rate_limited: row(429, 'Too many requests', 'Wait as long as Retry-After says.'),
  unavailable: row(503, 'The service is not available now', 'Try again later.'),
  draining: row(503, 'The server is stopping', 'Try again in some seconds.'),
  cursor_invalid: row(400, 'The cursor was not given out for this list', 'Start without a cursor.'),
  cursor_ahead: row(400, 'The cursor lies beyond the end', 'Start again from the last cursor that was given to you.'),
  cursor_gap: row(410, 'The cursor lies before what is kept', 'Read the state again and go on from oldest_cursor.'),
  not_supported: row(501, 'This is not supported yet', 'See the discovery document for what is.'),
  internal: row(500, 'Something failed on our side', 'Try again; quote the request id if it stays.'),
} as const satisfies Record<string, ProblemRow>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** Status, title and advice of a code. */
export function describeProblem(code: ProblemCode): ProblemRow {
  return PROBLEMS[code];
}

type ProblemOptions = { readonly cause?: unknown; readonly extra?: Readonly<Record<string, string | number>> };

/** The caller's fault or ours, concerning the whole request. Peers and transports throw `PeerError` instead. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly status: number;
  readonly extra: Readonly<Record<string, string | number>> | undefined;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = detail;
    this.status = PROBLEMS[code].status;
    this.extra = options.extra;
  }
}

/** Why one item (an envelope, an interaction, a transition) was refused; what the words mean is in the spec. */
export const REFUSAL_CODES = [
  'envelope_malformed',
  'envelope_not_canonical',
  'envelope_too_large',
  'sender_mismatch',
  'key_invalid',
  'certificate_invalid',
  'certificate_missing',
  'signature_invalid',
  'body_digest_mismatch',
  'body_missing',
  'expired',
  'issued_in_future',
  'lifetime_too_long',
  'wrong_destination',
  'message_id_reuse',
  'order_gap',
  // One code for unknown, blocked and missing recipients, so that wording tells nobody who exists.
  'recipient_unavailable',
  'interaction_invalid',
  'interaction_unsupported',
  'commitment_unknown',
  'commitment_wrong_digest',
  'commitment_wrong_party',
  'commitment_wrong_state',
  'commitment_previous_mismatch',
  'mint_foreign_domain',
  'conversation_not_member',
  'quarantine_full',
  'quarantine_expired',
  'dropped_by_operator',
  'rate_limited',
  'internal',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** An expected refusal: a machine-readable reason and words that help. */
export type Refusal<Reason extends string = RefusalCode> = {
  readonly ok: false;
  readonly reason: Reason;
  readonly detail: string;
};

export function refuse<Reason extends string>(reason: Reason, detail: string): Refusal<Reason> {
  return { ok: false, reason, detail };
}

function row(status: number, title: string, action: string): ProblemRow {
  return { status, title, action };
}
