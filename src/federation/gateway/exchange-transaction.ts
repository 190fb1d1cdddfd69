// One attempt to hand a transaction to a peer: signed afresh, sent, and its answer believed only with the peer's signature.
import { isDeepStrictEqual } from 'node:util';
import { domainSigner } from '../../home/index.js';
import { type Clock, PeerError, type PeerResponse } from '../../platform/index.js';
import {
  digestOf,
  encodeTransaction,
  fromUtf8,
  type Id,
  LIMITS,
  mintId,
  Problem,
  parseTransactionAnswer,
  readReceipt,
  signRequest,
  type TransactionAnswer,
  type TransactionReceipt,
  type TransactionResult,
  toBase64url,
  verifyReceipt,
  type WireEnvelope,
} from '../../protocol/index.js';
import { domainTag, type Gateway, mintOf } from '../parts.js';
import { type KnownPeer, peerBundle } from '../peer/index.js';

export interface Shipment {
  envelopes: readonly WireEnvelope[];
  certificates: readonly string[];
  /** What the answer has to decide: each message for each recipient. */
  expected: readonly { messageId: string; recipient: string }[];
}

export interface Delivered {
  transactionId: Id<'txn'>;
  results: readonly TransactionResult[];
  token: string;
}

const requestMs = 10_000;

/** Throws a PeerError when the peer did not take the transaction as a whole; nothing is known of it then. */
export async function exchangeTransaction(
  gateway: Gateway,
  peer: KnownPeer,
  { shipment, signal }: { shipment: Shipment; signal: AbortSignal },
): Promise<Delivered> {
  const transactionId = mintId('txn', domainTag, mintOf(gateway));
  const body = encodeTransaction({
    origin: gateway.domain.name,
    destination: peer.domain,
    incarnation: gateway.domain.incarnation,
    certificates: shipment.certificates,
    envelopes: shipment.envelopes,
    signals: [],
  });
  const url = `${peer.gateway}/federation/v1/transactions/${transactionId}`;
  const response = await put(gateway, peer, { url, body, signal });
  if (response.status !== 200) throw refusedBy(peer, response, gateway.clock);
  const answer = readAnswer(peer, response.body);
  const receipt = await provenReceipt(gateway, peer, answer);
  checkReceipt(gateway, peer, { answer, receipt, transactionId, body });
  checkResults(peer, receipt.results, shipment);
  return { transactionId, results: receipt.results, token: answer.receipt };
}

type Put = { url: string; body: Uint8Array; signal: AbortSignal };

async function put(gateway: Gateway, peer: KnownPeer, { url, body, signal }: Put): Promise<PeerResponse> {
  const signer = await domainSigner(gateway.db.sql, gateway.custody, gateway.domain);
  const headers = await signRequest({
    method: 'PUT',
    targetUri: url,
    body,
    contentType: 'application/json',
    origin: gateway.domain.name,
    destination: peer.domain,
    keyRef: signer.keyRef,
    created: gateway.clock.now(),
    nonce: toBase64url(gateway.random.bytes(18)),
    sign: signer.sign,
  });
  return gateway.http.request({
    method: 'PUT',
    url,
    headers,
    body,
    maxBytes: LIMITS.answerBytes,
    timeoutMs: requestMs,
    signal,
  });
}

function readAnswer(peer: KnownPeer, body: Uint8Array): TransactionAnswer {
  try {
    return parseTransactionAnswer(body);
  } catch (error) {
    if (error instanceof Problem) throw invalid(peer, `the answer is not one: ${error.detail}`);
    throw error;
  }
}

async function provenReceipt(
  gateway: Gateway,
  peer: KnownPeer,
  answer: TransactionAnswer,
): Promise<TransactionReceipt> {
  const unverified = readReceipt(answer.receipt);
  // A peer that has just changed its key signs with one that is not known here yet.
  const fresh = unverified.ok ? await peerBundle(gateway.peers, peer.domain, unverified.kid) : undefined;
  const bundle = fresh?.ok ? fresh.peer.bundle : peer.bundle;
  const verified = await verifyReceipt(unverified, { bundle, now: gateway.clock.now() });
  if (!verified.ok) throw invalid(peer, `the receipt does not hold: ${verified.detail}`);
  if (verified.receipt.type !== 'transaction-receipt') throw invalid(peer, 'the receipt is not of a transaction');
  return verified.receipt;
}

interface Checked {
  answer: TransactionAnswer;
  receipt: TransactionReceipt;
  transactionId: string;
  body: Uint8Array;
}

/** A true receipt of another transaction, or of other bytes under this id, would settle what was never delivered. */
function checkReceipt(gateway: Gateway, peer: KnownPeer, { answer, receipt, transactionId, body }: Checked): void {
  const binds =
    receipt.transaction_id === transactionId &&
    receipt.origin === gateway.domain.name &&
    receipt.destination === peer.domain &&
    receipt.subject_digest === digestOf(body);
  if (!binds) throw invalid(peer, 'the receipt is of another transaction');
  if (!isDeepStrictEqual(answer.results, receipt.results)) {
    throw invalid(peer, 'the results are not the ones signed');
  }
}

function checkResults(peer: KnownPeer, results: readonly TransactionResult[], { expected }: Shipment): void {
  const decided = new Map<string, number>();
  for (const { message_id, recipient } of results) {
    const key = `${message_id} ${recipient}`;
    decided.set(key, (decided.get(key) ?? 0) + 1);
  }
  const whole =
    results.length === expected.length &&
    expected.every(({ messageId, recipient }) => decided.get(`${messageId} ${recipient}`) === 1);
  if (!whole) throw invalid(peer, 'the results are not those of the messages sent');
}

function refusedBy(peer: KnownPeer, response: PeerResponse, clock: Clock): PeerError {
  const { status } = response;
  const said = fromUtf8(response.body.subarray(0, 512)) ?? '';
  const code = /"code"\s*:\s*"([a-z_]{1,64})"/.exec(said)?.[1];
  const retryAfterMs = readRetryAfter(response.headers['retry-after'], clock);
  return new PeerError('refused', `${peer.domain} answered ${status}${code === undefined ? '' : ` ${code}`}`, {
    retryable: true,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Seconds or an HTTP date; anything else counts as not said. */
export function readRetryAfter(field: string | undefined, clock: Pick<Clock, 'now'>): number | undefined {
  if (field === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(field.trim())) return Number(field.trim()) * 1000;
  const atMs = Date.parse(field);
  return Number.isNaN(atMs) ? undefined : Math.max(atMs - clock.now().getTime(), 0);
}

function invalid(peer: KnownPeer, message: string): PeerError {
  return new PeerError('answer_invalid', `${peer.domain}: ${message}`, { retryable: true, status: 200 });
}
