/**
 * Hands a peer the next items of its outbox as one transaction. A crash leaves: before sending, a claim that lapses; after
 * sending, items that are offered again and come back as duplicates with the first receipts; after settling, the ends.
 */
import { foundationChannels } from '../../foundation/index.js';
import { principalByHome } from '../../home/index.js';
import { PeerError, type Tx } from '../../platform/index.js';
import {
  type Domain,
  fromUtf8,
  LIMITS,
  openEnvelope,
  subjectKeyOf,
  toBase64url,
  type WireEnvelope,
} from '../../protocol/index.js';
import {
  claimDelivery,
  countAttempts,
  type DeliveryClaim,
  type DeliveryState,
  endItem,
  jitterFrom,
  jitterTo,
  nextAttempt,
  noteFailure,
  noteSuccess,
  type OutboxItem,
  releaseDelivery,
  takeItems,
} from '../outbox/index.js';
import { federationChannels, type Gateway } from '../parts.js';
import { peerBundle } from '../peer/index.js';
import { saveTransactionReceipt } from '../receipt/index.js';
import { type Delivered, exchangeTransaction, type Shipment } from './exchange-transaction.js';
import { settleItem, tellSender } from './settle-delivery.js';

export type SendOutcome = 'sent' | 'failed' | 'nothing';

const claimMs = 15_000;
/** Room for the frame and the certificates beside the envelopes. */
const envelopeBytesPerTransaction =
  LIMITS.transactionBytes - LIMITS.transactionCertificates * LIMITS.certificateBytes - 4_096;
/** A lone item that a peer calls malformed or too large so often is given up; its neighbours go on. */
const refusalsOfOne = 3;
const refusalStatuses: readonly (number | undefined)[] = [400, 413, 422];

export async function sendTransaction(gateway: Gateway, peer: Domain, signal: AbortSignal): Promise<SendOutcome> {
  const known = await peerBundle(gateway.peers, peer);
  const claim: DeliveryClaim = { peer, claim: `${gateway.instance}/${toBase64url(gateway.random.bytes(9))}` };
  const claimed = await claimItems(gateway, claim);
  if (!claimed) return 'nothing';
  const { state, items } = claimed;
  if (!known.ok) {
    await fail(gateway, claim, {
      state,
      items: [],
      error: new PeerError('refused', `${known.reason}: ${known.detail}`, { retryable: true }),
    });
    return 'failed';
  }
  const { ready, shipment } = await pack(gateway, items);
  if (ready.length === 0) {
    await release(gateway, claim);
    return 'sent';
  }
  try {
    const delivered = await exchangeTransaction(gateway, known.peer, { shipment, signal });
    await settle(gateway, claim, { items: ready, delivered });
    return 'sent';
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    if (signal.aborted) await release(gateway, claim);
    else await fail(gateway, claim, { state, items: ready, error });
    return 'failed';
  }
}

interface Claimed {
  state: DeliveryState;
  items: OutboxItem[];
}

/** While a peer fails, one item at a time is the probe. The attempt is counted before it is made. */
async function claimItems(gateway: Gateway, claim: DeliveryClaim): Promise<Claimed | undefined> {
  return gateway.db.transact('outbox.claim', async (tx) => {
    const state = await claimDelivery(tx, { ...claim, claimMs });
    if (!state) return undefined;
    const limit = state.failures > 0 ? 1 : LIMITS.transactionEnvelopes;
    const items = withinBytes(await takeItems(tx, { peer: claim.peer, limit }));
    if (items.length === 0) {
      await releaseDelivery(tx, claim);
      return undefined;
    }
    await countAttempts(tx, { peer: claim.peer, positions: items.map((item) => item.position) });
    return { state, items };
  });
}

function withinBytes(items: readonly OutboxItem[]): OutboxItem[] {
  const taken: OutboxItem[] = [];
  let bytes = 0;
  for (const item of items) {
    // JSON may write a byte of text in two, and of a control character in six; signed bytes hold few of those.
    bytes += 2 * (item.header.byteLength + item.body.byteLength) + 256;
    if (taken.length > 0 && bytes > envelopeBytesPerTransaction) break;
    taken.push(item);
  }
  return taken;
}

/** Envelopes with a fresh certificate of each sender; what can't be vouched for any more ends here. */
async function pack(
  gateway: Gateway,
  items: readonly OutboxItem[],
): Promise<{ ready: OutboxItem[]; shipment: Shipment }> {
  const ready: OutboxItem[] = [];
  const envelopes: WireEnvelope[] = [];
  const certificates = new Set<string>();
  for (const item of items) {
    const wire = wireOf(item);
    const certificate = await certificateFor(gateway, item, wire);
    if (certificate === undefined) {
      await bury(gateway, item, 'key_not_current');
      continue;
    }
    ready.push(item);
    envelopes.push(wire);
    certificates.add(certificate);
  }
  const expected = ready.flatMap(({ messageId, recipients }) =>
    recipients.map((recipient) => ({ messageId, recipient })),
  );
  return { ready, shipment: { envelopes, certificates: [...certificates], expected } };
}

function wireOf({ header, signature, body }: OutboxItem): WireEnvelope {
  return { header: textOf(header), signature, body: textOf(body) };
}

function textOf(bytes: Uint8Array): string {
  const text = fromUtf8(bytes);
  if (text === undefined) throw new Error('an outbox item is not UTF-8');
  return text;
}

async function certificateFor(gateway: Gateway, item: OutboxItem, wire: WireEnvelope): Promise<string | undefined> {
  const sender = await principalByHome(gateway.db.sql, item.home);
  const token = sender && (await gateway.certifier.agentKeyCertificate(sender));
  const opened = openEnvelope(wire);
  const matches = token !== undefined && opened.ok && subjectKeyOf(token) === opened.header.key_id;
  return matches ? token : undefined;
}

async function bury(gateway: Gateway, item: OutboxItem, reason: string): Promise<void> {
  await gateway.db.transact('outbox.bury', async (tx) => {
    if (await endItem(tx, { ...item, end: 'dead', reason })) {
      await tellSender(gateway, tx, { item, end: 'dead', reason, results: [] });
    }
  });
  gateway.wakeups.wake(foundationChannels.inputs);
}

async function settle(
  gateway: Gateway,
  claim: DeliveryClaim,
  { items, delivered }: { items: readonly OutboxItem[]; delivered: Delivered },
): Promise<void> {
  const { transactionId, results, token } = delivered;
  await gateway.db.transact('outbox.settle', async (tx) => {
    for (const item of items) {
      const own = results.filter(({ message_id }) => message_id === item.messageId);
      await settleItem(gateway, tx, { item, results: own, transactionId });
    }
    await saveTransactionReceipt(tx, { peer: claim.peer, transactionId, direction: 'received', token });
    await noteSuccess(tx, claim);
  });
  gateway.wakeups.wake(foundationChannels.inputs);
  gateway.wakeups.wake(federationChannels.outbox);
}

interface Failed {
  state: DeliveryState;
  items: readonly OutboxItem[];
  error: PeerError;
}

async function fail(gateway: Gateway, claim: DeliveryClaim, failed: Failed): Promise<void> {
  const { state, items, error } = failed;
  gateway.log.info({ peer: claim.peer, failures: state.failures + 1, err: error }, 'a delivery failed');
  const waitMs = nextAttempt({
    failures: state.failures + 1,
    failingForMs: state.failingForMs,
    retryAfterMs: error.retryAfterMs,
    jitter: gateway.random.uniform(jitterFrom, jitterTo),
  });
  await gateway.db.transact('outbox.fail', async (tx) => {
    const [only, ...others] = items;
    const poison = refusalStatuses.includes(error.status) && state.failures >= refusalsOfOne && others.length === 0;
    if (only && poison) await giveUp(gateway, tx, only);
    await noteFailure(tx, { ...claim, error: error.message, waitMs });
  });
}

async function giveUp(gateway: Gateway, tx: Tx, item: OutboxItem): Promise<void> {
  if (!(await endItem(tx, { ...item, end: 'rejected', reason: 'request_refused' }))) return;
  await tellSender(gateway, tx, { item, end: 'rejected', reason: 'request_refused', results: [] });
}

async function release(gateway: Gateway, claim: DeliveryClaim): Promise<void> {
  await gateway.db.transact('outbox.release', (tx) => releaseDelivery(tx, claim));
}
