/**
 * Hands a peer what waits for it in the outbox. The queue is delivered on tracks that share the conversations out among them,
 * so that several transactions travel at once, one track settles while another is on its way, and order is kept (D9). A crash
 * leaves: before sending, a claim that lapses; after sending, items that are offered again and come back as duplicates with
 * the first receipts; after settling, the ends.
 */
import { PeerError } from '../../platform/index.js';
import { type Domain, LIMITS, toBase64url } from '../../protocol/index.js';
import {
  claimDelivery,
  countAttempts,
  countWaiting,
  type DeliveryClaim,
  type DeliveryState,
  jitterFrom,
  jitterTo,
  nextAttempt,
  noteFailure,
  noteSuccess,
  type OutboxItem,
  releaseDelivery,
  type Track,
} from '../outbox/index.js';
import { federationChannels, type Gateway } from '../parts.js';
import { type KnownPeer, peerBundle } from '../peer/index.js';
import { endAndTell, type Round, sendRound } from './send-round.js';

export type SendOutcome = 'sent' | 'failed' | 'nothing';

const claimMs = 15_000;
/** Tracks of a long queue at most, and transactions on their way on each of them; a peer may ask for fewer of both. */
const mostTracks = 4;
const mostOnTrack = 2;
/** How long an empty track waits for something new while another one is at work. */
const trackIdleMs = 50;
/** Rounds after which a track ends, so that what is known of the peer is read anew however long its queue is. */
const roundsOfTrack = 64;
/** A lone item that a peer calls malformed or too large so often is given up; its neighbours go on. */
const refusalsOfOne = 3;
const refusalStatuses: readonly (number | undefined)[] = [400, 413, 422];

/** Sends what fits one transaction, or a good part of a longer queue; who calls goes on while something was sent (DELIVERY-25). */
export async function sendTransaction(gateway: Gateway, peer: Domain, signal: AbortSignal): Promise<SendOutcome> {
  const waiting = await countWaiting(gateway.db.sql, { peer, limit: LIMITS.transactionEnvelopes + 1 });
  if (waiting === 0) return 'nothing';
  const known = await peerBundle(gateway.peers, peer);
  const claim: DeliveryClaim = { peer, claim: `${gateway.instance}/${toBase64url(gateway.random.bytes(9))}` };
  const delivering: Delivering = { claim, signal };
  if (!known.ok) {
    const error = new PeerError('refused', `${known.reason}: ${known.detail}`, { retryable: true });
    return failUntried(gateway, claim, error);
  }
  const round =
    waiting > known.peer.limits.transaction_envelopes
      ? await sendQueue(gateway, known.peer, delivering)
      : await sendWhole(gateway, known.peer, delivering);
  return conclude(gateway, { ...delivering, round });
}

type Delivering = { claim: DeliveryClaim; signal: AbortSignal };

/** One round over the whole queue; while a peer fails, one item of it is the probe. */
function sendWhole(gateway: Gateway, peer: KnownPeer, { claim, signal }: Delivering): Promise<Round> {
  return sendRound(gateway, peer, { claim, signal, track: undefined, transactions: 1 });
}

async function sendQueue(gateway: Gateway, peer: KnownPeer, delivering: Delivering): Promise<Round> {
  const state = await takeClaim(gateway, delivering.claim);
  if (!state) return { kind: 'nothing' };
  return state.failures > 0 ? sendWhole(gateway, peer, delivering) : runTracks(gateway, peer, delivering);
}

function takeClaim(gateway: Gateway, claim: DeliveryClaim): Promise<DeliveryState | undefined> {
  return gateway.db.transact('outbox.claim', (tx) => claimDelivery(tx, { ...claim, claimMs }));
}

async function failUntried(gateway: Gateway, claim: DeliveryClaim, error: PeerError): Promise<SendOutcome> {
  const state = await takeClaim(gateway, claim);
  if (!state) return 'nothing';
  await fail(gateway, claim, { state, items: [], error });
  return 'failed';
}

/** Each track goes on until none has anything left, for a bounded time; the first failure ends them all after their rounds. */
async function runTracks(gateway: Gateway, peer: KnownPeer, { claim, signal }: Delivering): Promise<Round> {
  const inFlight = peer.limits.transactions_in_flight;
  const of = Math.min(mostTracks, inFlight);
  const tracks = Array.from({ length: of }, (_, index): Track => ({ index, of }));
  const transactions = Math.min(mostOnTrack, Math.floor(inFlight / of));
  const rounds: Round[] = [];
  const failed = () => rounds.find(({ kind }) => kind === 'failed');
  let working = 0;
  let broken = false;

  async function next(track: Track): Promise<Round> {
    working += 1;
    try {
      if ((await countWaiting(gateway.db.sql, { peer: claim.peer, track, limit: 1 })) === 0) return { kind: 'nothing' };
      return await sendRound(gateway, peer, { claim, signal, track, transactions });
    } catch (error) {
      broken = true;
      throw error;
    } finally {
      working -= 1;
    }
  }

  async function run(track: Track): Promise<void> {
    for (let count = 0; count < roundsOfTrack && !signal.aborted && !broken && !failed(); ) {
      const round = await next(track);
      if (round.kind !== 'nothing') count = rounds.push(round);
      else if (working === 0) return;
      else await gateway.wakeups.wait(federationChannels.outbox, trackIdleMs, signal);
    }
  }

  // A fault in one is thrown once the others have ended as well: none goes on behind the back of the caller.
  const ends = await Promise.allSettled(tracks.map(run));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return failed() ?? rounds[0] ?? { kind: 'nothing' };
}

async function conclude(
  gateway: Gateway,
  { claim, signal, round }: Delivering & { round: Round },
): Promise<SendOutcome> {
  switch (round.kind) {
    case 'sent':
      await gateway.db.transact('outbox.done', (tx) => noteSuccess(tx, claim));
      return 'sent';
    case 'nothing':
      await release(gateway, claim);
      return 'nothing';
    case 'failed':
      if (signal.aborted) await release(gateway, claim);
      else await fail(gateway, claim, round);
      return 'failed';
  }
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
    if (only && poison) {
      await endAndTell(gateway, tx, { items: [only], end: 'rejected', reason: 'request_refused' });
      // The peer answers; what it would not take is gone, and the next item has its own attempts.
      return noteSuccess(tx, claim);
    }
    await countAttempts(tx, { peer: claim.peer, positions: items.map(({ position }) => position) });
    await noteFailure(tx, { ...claim, error: error.message, waitMs });
  });
}

async function release(gateway: Gateway, claim: DeliveryClaim): Promise<void> {
  await gateway.db.transact('outbox.release', (tx) => releaseDelivery(tx, claim));
}
