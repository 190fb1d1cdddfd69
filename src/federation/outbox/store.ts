// The SQL of the outbox: signed envelopes per destination, in the order they were committed, and the state of each peer.
import type { Sql, Tx } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';
import type { QueueItem } from './queue-store.js';

export interface OutboxItem extends Omit<QueueItem, 'expiresAt'> {
  position: number;
  attempt: number;
}

/** Peers that have something queued and may be tried now. Another process may claim them first. */
export async function deliverablePeers(sql: Sql, limit: number): Promise<Domain[]> {
  // The inner limit makes it a look at the head of each queue, however long the queues are.
  const rows = await sql<{ peer: Domain }[]>`
    select d.peer
      from federation.peer_deliveries d
     cross join lateral (select 1
                           from federation.outbox_items o
                          where o.peer = d.peer
                            and o.status = 'queued'
                            and o.dead_at > hearth_now()
                            and ${mayGo(sql)}
                          order by o.position
                          limit 1) head
     where d.next_attempt_at <= hearth_now()
       and (d.claimed_until is null or d.claimed_until <= hearth_lease_now())
     order by d.next_attempt_at, d.peer
     limit ${limit}`;
  return rows.map((row) => row.peer);
}

/** True of an item `o` unless an item of its conversation, itself or one before it, has to wait (D9). */
function mayGo(sql: Sql) {
  return sql`not exists (select 1
                           from federation.outbox_items held
                          where held.peer = o.peer
                            and held.status = 'queued'
                            and held.not_before is not null
                            and held.conversation_id = o.conversation_id
                            and held.position <= o.position
                            and held.not_before > hearth_now())`;
}

export interface DeliveryClaim {
  peer: Domain;
  claim: string;
}

export interface DeliveryState {
  failures: number;
  /** How long the peer has been failing, by the database's clock. */
  failingForMs: number;
}

/** One process delivers to a peer at a time, for a limited time that it may renew; undefined when it is not ours now. */
export async function claimDelivery(
  tx: Tx,
  { peer, claim, claimMs }: DeliveryClaim & { claimMs: number },
): Promise<DeliveryState | undefined> {
  const [row] = await tx<DeliveryState[]>`
    update federation.peer_deliveries
       set claim = ${claim}, claimed_until = hearth_lease_now() + ${claimMs} * interval '1 millisecond'
     where peer = ${peer}
       and next_attempt_at <= hearth_now()
       and (claim = ${claim} or claimed_until is null or claimed_until <= hearth_lease_now())
    returning failures,
              coalesce(extract(epoch from hearth_now() - failing_since) * 1000, 0)::bigint as failing_for_ms`;
  return row;
}

/**
 * The next items in order. Once an item of a conversation has to wait, what comes after it in that conversation waits too
 * (D9); other conversations go on.
 */
export function takeItems(
  sql: Sql,
  { peer, track, limit }: { peer: Domain; track?: Track | undefined; limit: number },
): Promise<OutboxItem[]> {
  return sql<OutboxItem[]>`
    select o.peer, o.position, o.home, o.message_id, o.sender, o.recipients, o.conversation_id, o.effect_id, o.header,
           o.signature, o.body, o.attempt
      from federation.outbox_items o
     where ${waiting(sql, { peer, track })}
     order by o.position
     limit ${limit}`;
}

/** What may go to a peer now. */
function waiting(sql: Sql, { peer, track }: { peer: Domain; track?: Track | undefined }) {
  return sql`
           o.peer = ${peer}
       and o.status = 'queued'
       and o.dead_at > hearth_now()
       and ${mayGo(sql)}
       and ${onTrack(sql, track)}`;
}

/** Conversations are shared out among tracks, so that several may be delivered at once and each keeps its order. */
export interface Track {
  index: number;
  /** How many there are; each conversation is on one of them. */
  of: number;
}

function onTrack(sql: Sql, track: Track | undefined) {
  return track === undefined
    ? sql`true`
    : sql`(hashtext(o.conversation_id) % ${track.of} + ${track.of}) % ${track.of} = ${track.index}`;
}

/** How many items may go now, counted no further than `limit`: a look at the head of the queue. */
export async function countWaiting(
  sql: Sql,
  { peer, track, limit }: { peer: Domain; track?: Track | undefined; limit: number },
): Promise<number> {
  const rows = await sql`
    select 1
      from federation.outbox_items o
     where ${waiting(sql, { peer, track })}
     order by o.position
     limit ${limit}`;
  return rows.length;
}

/** An attempt is counted when it ends, with whatever else its end writes; this is for one that left its items as they were. */
export async function countAttempts(tx: Tx, { peer, positions }: { peer: Domain; positions: number[] }): Promise<void> {
  await tx`
    update federation.outbox_items
       set attempt = attempt + 1
     where peer = ${peer}
       and position = any(${positions}::bigint[])`;
}

export type ItemEnd = 'delivered' | 'parked' | 'rejected' | 'dead';

export interface EndItem {
  peer: Domain;
  position: number;
  end: ItemEnd;
  reason: string | null;
}

/** Ends an attempt for good. Guarded: answers the positions that this ended, so that what follows from the end happens once. */
export async function endItems(tx: Tx, ends: readonly EndItem[]): Promise<ReadonlySet<number>> {
  if (ends.length === 0) return new Set();
  const given = ends.map(({ peer, position, end, reason }) => ({ peer, position, end, reason }));
  const rows = await tx<{ position: number }[]>`
    update federation.outbox_items o
       set status = e."end", reason_code = e.reason, attempt = o.attempt + 1,
           settled_at = case when e."end" = 'parked' then null else hearth_now() end
      from jsonb_to_recordset(${tx.json(given)}) as e (peer text, position bigint, "end" text, reason text)
     where o.peer = e.peer
       and o.position = e.position
       and o.status = 'queued'
    returning o.position`;
  return new Set(rows.map((row) => row.position));
}

export interface HoldItem {
  peer: Domain;
  position: number;
  afterS: number;
}

export async function holdItems(tx: Tx, holds: readonly HoldItem[]): Promise<void> {
  if (holds.length === 0) return;
  const given = holds.map(({ peer, position, afterS }) => ({ peer, position, after_s: afterS }));
  await tx`
    update federation.outbox_items o
       set attempt = o.attempt + 1, not_before = hearth_now() + h.after_s * interval '1 second'
      from jsonb_to_recordset(${tx.json(given)}) as h (peer text, position bigint, after_s double precision)
     where o.peer = h.peer
       and o.position = h.position
       and o.status = 'queued'`;
}

/** Ends what nobody can deliver any more; a bounded part at a time. */
export function buryExpired(tx: Tx, limit: number): Promise<(OutboxItem & { reasonCode: string })[]> {
  return tx<(OutboxItem & { reasonCode: string })[]>`
    update federation.outbox_items o
       set status = 'dead', reason_code = case o.status when 'parked' then 'undecided' else 'expired' end,
           settled_at = hearth_now()
      from (select peer, position
              from federation.outbox_items
             where status in ('queued', 'parked')
               and dead_at <= hearth_now()
             order by dead_at
             limit ${limit}
               for update skip locked) late
     where o.peer = late.peer
       and o.position = late.position
    returning o.peer, o.position, o.home, o.message_id, o.sender, o.recipients, o.conversation_id, o.effect_id,
              o.header, o.signature, o.body, o.attempt, o.reason_code`;
}

/** The peer answered: the record of failures is clear. */
export async function noteSuccess(tx: Tx, { peer, claim }: DeliveryClaim): Promise<void> {
  await tx`
    update federation.peer_deliveries
       set failures = 0, failing_since = null, early_probe_at = null, next_attempt_at = hearth_now(), claim = null,
           claimed_until = null, last_success_at = hearth_now()
     where peer = ${peer}
       and claim = ${claim}`;
}

export async function noteFailure(
  tx: Tx,
  { peer, claim, error, waitMs }: DeliveryClaim & { error: string; waitMs: number },
): Promise<void> {
  await tx`
    update federation.peer_deliveries
       set failures = failures + 1, failing_since = coalesce(failing_since, hearth_now()), claim = null,
           claimed_until = null, next_attempt_at = hearth_now() + ${waitMs} * interval '1 millisecond',
           last_error = ${error}, last_error_at = hearth_now()
     where peer = ${peer}
       and claim = ${claim}`;
}

/** Nothing was tried, because everything queued has to wait or the host stops: the record of failures stays as it is. */
export async function releaseDelivery(tx: Tx, { peer, claim }: DeliveryClaim): Promise<void> {
  await tx`
    update federation.peer_deliveries
       set claim = null, claimed_until = null
     where peer = ${peer}
       and claim = ${claim}`;
}

const earlyProbeEveryS = 60;

/** A valid message shows that the peer lives: one early try, while the record of failures stays. */
export async function allowEarlyProbe(tx: Tx, peer: Domain): Promise<boolean> {
  const rows = await tx`
    update federation.peer_deliveries
       set next_attempt_at = hearth_now(), early_probe_at = hearth_now()
     where peer = ${peer}
       and failures > 0
       and next_attempt_at > hearth_now()
       and (early_probe_at is null or early_probe_at <= hearth_now() - ${earlyProbeEveryS} * interval '1 second')
    returning 1`;
  return rows.length === 1;
}
