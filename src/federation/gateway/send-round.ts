// One round of a delivery: the next items of a track go out as one transaction or a few at once, and what came of it is settled.
import { foundationChannels } from '../../foundation/index.js';
import { PeerError, type Tx } from '../../platform/index.js';
import {
  claimDelivery,
  type DeliveryClaim,
  type DeliveryState,
  endItems,
  type OutboxItem,
  type Track,
  takeItems,
} from '../outbox/index.js';
import { federationChannels, type Gateway } from '../parts.js';
import type { KnownPeer } from '../peer/index.js';
import { saveTransactionReceipt } from '../receipt/index.js';
import { type Delivered, exchangeTransaction } from './exchange-transaction.js';
import { dealItems, packItems } from './pack-items.js';
import { settleItems, tellSenders } from './settle-delivery.js';

const claimMs = 15_000;

export interface SendRound {
  claim: DeliveryClaim;
  /** Undefined takes from the whole queue. */
  track: Track | undefined;
  /** How many transactions may be under way at once in this round; while a peer fails, one item is the probe. */
  transactions: number;
  signal: AbortSignal;
}

export type Round =
  /** Nothing to send now, or the claim is somebody else's. */
  | { kind: 'nothing' }
  | { kind: 'sent' }
  /** What was delivered beside it is delivered and settled. */
  | { kind: 'failed'; state: DeliveryState; items: readonly OutboxItem[]; error: PeerError };

export async function sendRound(gateway: Gateway, peer: KnownPeer, round: SendRound): Promise<Round> {
  const taken = await takeRound(gateway, peer, round);
  if (!taken) return { kind: 'nothing' };
  const { signal, claim } = round;
  const ends = await Promise.allSettled(taken.deals.map((items) => sendDeal(gateway, peer, { items, signal })));
  const sent = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const delivered = sent.filter((each) => each.kind === 'delivered');
  if (delivered.length > 0) await settle(gateway, claim, delivered);
  // A fault of ours in one costs the others nothing.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  const failed = sent.filter((each) => each.kind === 'failed');
  const [first] = failed;
  return first ? { ...first, items: failed.flatMap(({ items }) => items), state: taken.state } : { kind: 'sent' };
}

/** Takes or keeps the claim. */
async function takeRound(
  gateway: Gateway,
  { limits }: KnownPeer,
  { claim, track, transactions }: SendRound,
): Promise<{ state: DeliveryState; deals: OutboxItem[][] } | undefined> {
  return gateway.db.transact('outbox.claim', async (tx) => {
    const state = await claimDelivery(tx, { ...claim, claimMs });
    if (!state) return undefined;
    const limit = state.failures > 0 ? 1 : transactions * limits.transaction_envelopes;
    const deals = dealItems(await takeItems(tx, { peer: claim.peer, track, limit }), limits);
    return deals.length === 0 ? undefined : { state, deals };
  });
}

type Sent =
  | { kind: 'delivered'; items: OutboxItem[]; delivered: Delivered }
  | { kind: 'failed'; items: OutboxItem[]; error: PeerError }
  | { kind: 'nothing' };

type Sending = { items: readonly OutboxItem[]; signal: AbortSignal };

async function sendDeal(gateway: Gateway, peer: KnownPeer, { items, signal }: Sending): Promise<Sent> {
  const { ready, unvouched, shipment } = await packItems(gateway, items);
  if (unvouched.length > 0) await bury(gateway, unvouched, 'key_not_current');
  if (ready.length === 0) return { kind: 'nothing' };
  try {
    const delivered = await exchangeTransaction(gateway, peer, { shipment, signal });
    return { kind: 'delivered', items: ready, delivered };
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    return { kind: 'failed', items: ready, error };
  }
}

async function bury(gateway: Gateway, items: readonly OutboxItem[], reason: string): Promise<void> {
  await gateway.db.transact('outbox.bury', (tx) => endAndTell(gateway, tx, { items, end: 'dead', reason }));
  gateway.wakeups.wake(foundationChannels.inputs);
}

type Ending = { items: readonly OutboxItem[]; end: 'dead' | 'rejected'; reason: string };

export async function endAndTell(gateway: Gateway, tx: Tx, { items, end, reason }: Ending): Promise<void> {
  const ended = await endItems(
    tx,
    items.map((item) => ({ ...item, end, reason })),
  );
  const news = items.filter((item) => ended.has(item.position));
  await tellSenders(
    gateway,
    tx,
    news.map((item) => ({ item, end, reason, results: [] })),
  );
}

type Settling = readonly { items: readonly OutboxItem[]; delivered: Delivered }[];

async function settle(gateway: Gateway, claim: DeliveryClaim, settling: Settling): Promise<void> {
  await gateway.db.transact('outbox.settle', async (tx) => {
    await settleItems(
      gateway,
      tx,
      settling.flatMap(({ items, delivered }) => itemsWithResults(items, delivered)),
    );
    for (const { transactionId, token } of settling.map(({ delivered }) => delivered)) {
      await saveTransactionReceipt(tx, { peer: claim.peer, transactionId, direction: 'received', token });
    }
  });
  gateway.wakeups.wake(foundationChannels.inputs);
  gateway.wakeups.wake(federationChannels.outbox);
}

function itemsWithResults(items: readonly OutboxItem[], { transactionId, results }: Delivered) {
  return items.map((item) => ({
    item,
    transactionId,
    results: results.filter(({ message_id }) => message_id === item.messageId),
  }));
}
