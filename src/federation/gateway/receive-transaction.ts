/**
 * Journey 1, inbound: receives one transaction from a peer. What has been proved so far is the type of the value in hand.
 * A crash leaves: before `acceptItems` commits, a claim that lapses; after it, results without an answer, which the next
 * repeat signs; after the answer is stored, the answer.
 */

import { foundationChannels } from '../../foundation/index.js';
import { domainSigner } from '../../home/index.js';
import {
  digestOf,
  encodeTransactionAnswer,
  formatInstant,
  isId,
  LIMITS,
  mintId,
  type ParsedTransaction,
  Problem,
  parseTransaction,
  sealReceipt,
  type TransactionReceipt,
  type TransactionResult,
  toBase64url,
  toUtf8,
} from '../../protocol/index.js';
import { allowEarlyProbe } from '../outbox/index.js';
import { domainTag, federationChannels, type Gateway, mintOf } from '../parts.js';
import { saveIncarnation } from '../peer/index.js';
import { saveTransactionReceipt } from '../receipt/index.js';
import type { AcceptItems } from './accept-items.js';
import { claimTransaction } from './claim-transaction.js';
import { parkTransaction, refuseTransaction } from './park-transaction.js';
import { type DoorRequest, type ProvedRequest, proveOrigin } from './prove-origin.js';
import { releaseTransaction, saveAnswer } from './store.js';
import { type DecidedItem, verifyItems } from './verify-items.js';

export type TransactionRequest = DoorRequest & { transactionId: string };

/** Answers the exact bytes to send back with 200, or throws a Problem for the whole request. */
export async function receiveTransaction(gateway: Gateway, request: TransactionRequest): Promise<Uint8Array> {
  holdBytes(request);
  const proved = await proveOrigin(gateway, request);
  const held = readFrame(gateway, request, proved);
  const claimed = await claimTransaction(gateway, {
    ...identityOf(held),
    bodyDigest: held.bodyDigest,
    claim: held.claim,
    nonce: proved.request.nonce,
    pinned: proved.peer.relationship === 'pinned',
  });
  if (claimed.kind === 'answered') return toUtf8(claimed.answer);
  try {
    const results = claimed.results ?? (await decide(gateway, held));
    return toUtf8(await answer(gateway, held, results));
  } catch (error) {
    await giveBack(gateway, held);
    throw error;
  } finally {
    gateway.wakeups.wake(federationChannels.answers);
  }
}

/** A transaction of a proved origin, its items still to be verified one by one. */
interface HeldTransaction {
  proved: ProvedRequest;
  transactionId: string;
  transaction: ParsedTransaction;
  bodyDigest: ReturnType<typeof digestOf>;
  claim: string;
}

function identityOf(held: HeldTransaction) {
  return { peer: held.proved.peer.domain, transactionId: held.transactionId, claim: held.claim };
}

/** Best effort: with the database gone the claim lapses by itself, and what went wrong first is what counts. */
async function giveBack(gateway: Gateway, held: HeldTransaction): Promise<void> {
  const release = gateway.db.transact('gateway.release', (tx) => releaseTransaction(tx, identityOf(held)));
  await release.catch(() => undefined);
}

/** Hard limits, before anything is parsed. */
function holdBytes({ transactionId, headers, body }: TransactionRequest): void {
  if (body.byteLength > LIMITS.transactionBytes) {
    throw new Problem('too_large', `a transaction has at most ${LIMITS.transactionBytes} bytes`);
  }
  if (!isId('txn', transactionId)) throw new Problem('schema_invalid', 'the transaction id is not one');
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (lower === 'content-encoding' && value !== 'identity') {
      throw new Problem('unsupported_media_type', 'a transaction is sent without content encoding');
    }
    if (lower === 'content-type' && value.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
      throw new Problem('unsupported_media_type', 'a transaction is application/json');
    }
  }
}

function readFrame(gateway: Gateway, request: TransactionRequest, proved: ProvedRequest): HeldTransaction {
  const transaction = parseTransaction(request.body);
  if (transaction.origin !== proved.peer.domain) {
    throw new Problem('schema_invalid', `origin is ${transaction.origin}, the request is of ${proved.peer.domain}`);
  }
  if (transaction.destination !== gateway.domain.name) {
    throw new Problem('wrong_destination', `destination is ${transaction.destination}`);
  }
  // A refused item is answered for each recipient that could be read, so it counts as much as any other.
  const pairs = transaction.items.reduce(
    (sum, item) => sum + Math.max('opened' in item ? item.opened.header.to.length : item.refused.recipients.length, 1),
    0,
  );
  if (pairs > LIMITS.transactionPairs) {
    throw new Problem('too_large', `${pairs} recipients where ${LIMITS.transactionPairs} are allowed`);
  }
  return {
    proved,
    transactionId: request.transactionId,
    transaction,
    bodyDigest: digestOf(request.body),
    claim: `${gateway.instance}/${toBase64url(gateway.random.bytes(9))}`,
  };
}

/** Verifies each item, then admits by what the operator decided about the origin: nothing else opens a mailbox (D5, D10). */
async function decide(gateway: Gateway, held: HeldTransaction): Promise<TransactionResult[]> {
  const { proved, transaction } = held;
  const items: DecidedItem[] = await verifyItems(transaction, {
    bundle: proved.peer.bundle,
    destination: gateway.domain.name,
    clock: gateway.clock,
  });
  const accept = { ...identityOf(held), items };
  switch (proved.peer.relationship) {
    case 'pinned':
      return acceptPinned(gateway, accept);
    case 'blocked':
      return refuseTransaction(gateway, accept);
    default:
      return parkTransaction(gateway, accept);
  }
}

async function acceptPinned(gateway: Gateway, accept: AcceptItems): Promise<TransactionResult[]> {
  const results = await gateway.accepts(accept);
  if (results.some(({ result }) => result === 'accepted')) gateway.wakeups.wake(foundationChannels.inputs);
  return results;
}

/** Signs the results as they were stored; of two that sign at once, the first stored answer is everybody's. */
async function answer(gateway: Gateway, held: HeldTransaction, results: TransactionResult[]): Promise<string> {
  const { proved, transactionId } = held;
  const now = gateway.clock.now();
  const receipt: TransactionReceipt = {
    type: 'transaction-receipt',
    receipt_id: mintId('rcpt', domainTag, mintOf(gateway)),
    subject_ref: transactionId,
    subject_digest: held.bodyDigest,
    issuer: gateway.domain.name,
    observed_at: formatInstant(now),
    code: 'processed',
    detail: '',
    transaction_id: idOf(transactionId),
    origin: proved.peer.domain,
    destination: gateway.domain.name,
    incarnation: gateway.domain.incarnation,
    results,
  };
  const signer = await domainSigner(gateway.db.sql, gateway.custody, gateway.domain);
  const token = await sealReceipt(receipt, signer.kid, signer.sign);
  return keepAnswer(gateway, held, { token, text: encodeTransactionAnswer({ results, receipt: token }) });
}

interface Answer {
  token: string;
  text: string;
}

async function keepAnswer(gateway: Gateway, held: HeldTransaction, { token, text }: Answer): Promise<string> {
  const { proved, transactionId, transaction } = held;
  const { domain: peer, relationship, incarnation } = proved.peer;
  const { stands, probe } = await gateway.db.transact('gateway.answer', async (tx) => {
    const stands = await saveAnswer(tx, { peer, transactionId, answer: text });
    if (relationship !== 'pinned') return { stands, probe: false };
    if (stands.first) await saveTransactionReceipt(tx, { peer, transactionId, direction: 'issued', token });
    if (incarnation !== transaction.incarnation) {
      await saveIncarnation(tx, { domain: peer, incarnation: transaction.incarnation });
    }
    return { stands, probe: await allowEarlyProbe(tx, peer) };
  });
  if (probe) gateway.wakeups.wake(federationChannels.outbox);
  return stands.answer;
}

function idOf(text: string) {
  if (!isId('txn', text)) throw new Problem('schema_invalid', 'the transaction id is not one');
  return text;
}
