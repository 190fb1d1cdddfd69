// The SQL of the outbox: signed envelopes per destination, in the order they were committed, and the state of each peer.
import type { Sql, Tx } from '../../platform/index.js';
import type { Address, Domain } from '../../protocol/index.js';

export interface QueueItem {
  peer: Domain;
  home: string;
  messageId: string;
  sender: Address;
  recipients: Address[];
  conversationId: string;
  effectId: string;
  header: Uint8Array;
  signature: string;
  body: Uint8Array;
  expiresAt: Date;
}

export interface OutboxItem extends Omit<QueueItem, 'expiresAt'> {
  position: number;
  attempt: number;
}

const deadAfterMs = 5 * 24 * 3_600_000;

/** Gives the item its place under the peer's row lock, so that places and commits are in one order; answers the place. */
export async function queueItem(tx: Tx, item: QueueItem): Promise<number> {
  const [row] = await tx<{ lastPosition: number }[]>`
    insert into federation.peer_deliveries as d (peer, last_position)
    values (${item.peer}, 1)
    on conflict (peer) do update
       set last_position = d.last_position + 1
    returning last_position`;
  if (!row) throw new Error(`no delivery row for ${item.peer}`);
  await tx`
    insert into federation.outbox_items (peer, position, home, message_id, sender, recipients, conversation_id,
           effect_id, header, signature, body, status, dead_at)
    values (${item.peer}, ${row.lastPosition}, ${item.home}, ${item.messageId}, ${item.sender}, ${item.recipients},
            ${item.conversationId}, ${item.effectId}, ${item.header}, ${item.signature}, ${item.body}, 'queued',
            least(${item.expiresAt}, hearth_now() + ${deadAfterMs} * interval '1 millisecond'))`;
  return row.lastPosition;
}

/** Peers that have something queued and may be tried now. Another process may claim them first. */
export async function deliverablePeers(sql: Sql, limit: number): Promise<Domain[]> {
  const rows = await sql<{ peer: Domain }[]>`
    select d.peer
      from federation.peer_deliveries d
     where d.next_attempt_at <= hearth_now()
       and (d.claimed_until is null or d.claimed_until <= hearth_now())
       and exists (select 1
                     from federation.outbox_items o
                    where o.peer = d.peer
                      and o.status = 'queued'
                      and o.dead_at > hearth_now()
                      and not exists (select 1
                                        from federation.outbox_items held
                                       where held.peer = o.peer
                                         and held.status = 'queued'
                                         and held.conversation_id = o.conversation_id
                                         and held.position <= o.position
                                         and held.not_before > hearth_now()))
     order by d.next_attempt_at, d.peer
     limit ${limit}`;
  return rows.map((row) => row.peer);
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

/** One process delivers to a peer at a time, for a limited time; undefined when it is not ours to try now. */
export async function claimDelivery(
  tx: Tx,
  { peer, claim, claimMs }: DeliveryClaim & { claimMs: number },
): Promise<DeliveryState | undefined> {
  const [row] = await tx<DeliveryState[]>`
    update federation.peer_deliveries
       set claim = ${claim}, claimed_until = hearth_now() + ${claimMs} * interval '1 millisecond'
     where peer = ${peer}
       and next_attempt_at <= hearth_now()
       and (claimed_until is null or claimed_until <= hearth_now())
    returning failures,
              coalesce(extract(epoch from hearth_now() - failing_since) * 1000, 0)::bigint as failing_for_ms`;
  return row;
}

/**
 * The next items in order. Once an item of a conversation has to wait, what comes after it in that conversation waits too
 * (D9); other conversations go on.
 */
export function takeItems(sql: Sql, { peer, limit }: { peer: Domain; limit: number }): Promise<OutboxItem[]> {
  return sql<OutboxItem[]>`
    select o.peer, o.position, o.home, o.message_id, o.sender, o.recipients, o.conversation_id, o.effect_id, o.header,
           o.signature, o.body, o.attempt
      from federation.outbox_items o
     where o.peer = ${peer}
       and o.status = 'queued'
       and o.dead_at > hearth_now()
       and not exists (select 1
                         from federation.outbox_items held
                        where held.peer = o.peer
                          and held.status = 'queued'
                          and held.conversation_id = o.conversation_id
                          and held.position <= o.position
                          and held.not_before > hearth_now())
     order by o.position
     limit ${limit}`;
}

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

/** Guarded: true only for the one that ends the item, so that what follows from the end happens once. */
export async function endItem(tx: Tx, { peer, position, end, reason }: EndItem): Promise<boolean> {
  const rows = await tx`
    update federation.outbox_items
       set status = ${end}, reason_code = ${reason},
           settled_at = case when ${end} = 'parked' then null else hearth_now() end
     where peer = ${peer}
       and position = ${position}
       and status = 'queued'
    returning 1`;
  return rows.length === 1;
}

export async function holdItem(
  tx: Tx,
  { peer, position, afterS }: { peer: Domain; position: number; afterS: number },
): Promise<void> {
  await tx`
    update federation.outbox_items
       set not_before = hearth_now() + ${afterS} * interval '1 second'
     where peer = ${peer}
       and position = ${position}
       and status = 'queued'`;
}

/** Ends what nobody can deliver any more; a bounded part at a time. */
export function buryExpired(tx: Tx, limit: number): Promise<OutboxItem[]> {
  return tx<OutboxItem[]>`
    update federation.outbox_items o
       set status = 'dead', reason_code = case o.status when 'parked' then 'undecided' else 'undelivered' end,
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
              o.header, o.signature, o.body, o.attempt`;
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
