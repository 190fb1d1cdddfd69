// The SQL behind what operators see of the outbox: items with their attempts and ends, and how each peer does.
import type { Sql } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';

export interface OutboxEntry {
  peer: Domain;
  position: number;
  home: string;
  messageId: string;
  sender: string;
  recipients: string[];
  conversationId: string;
  effectId: string;
  status: string;
  attempt: number;
  reasonCode: string | null;
  queuedAt: Date;
  deadAt: Date;
  settledAt: Date | null;
}

export interface ListOutbox {
  peer?: Domain | undefined;
  status?: string | undefined;
  /** `peer` and `position` of the last entry of the page before. */
  after?: { peer: string; position: number } | undefined;
  limit: number;
}

export function listOutbox(sql: Sql, { peer, status, after, limit }: ListOutbox): Promise<OutboxEntry[]> {
  return sql<OutboxEntry[]>`
    select peer, position, home, message_id, sender, recipients, conversation_id, effect_id, status, attempt,
           reason_code, queued_at, dead_at, settled_at
      from federation.outbox_items
     where (${peer ?? null}::text is null or peer = ${peer ?? null})
       and (${status ?? null}::text is null or status = ${status ?? null})
       and (peer, position) > (${after?.peer ?? ''}, ${after?.position ?? 0}::bigint)
     order by peer, position
     limit ${limit}`;
}

export async function readOutboxEntry(sql: Sql, messageId: string): Promise<OutboxEntry | undefined> {
  const [row] = await sql<OutboxEntry[]>`
    select peer, position, home, message_id, sender, recipients, conversation_id, effect_id, status, attempt,
           reason_code, queued_at, dead_at, settled_at
      from federation.outbox_items
     where message_id = ${messageId}
     limit 1`;
  return row;
}

export interface PeerDelivery {
  peer: Domain;
  failures: number;
  failingSince: Date | null;
  nextAttemptAt: Date;
  lastSuccessAt: Date | null;
  lastError: string | null;
  lastErrorAt: Date | null;
  queued: number;
}

/** How each of these peers does; none for a domain that nothing was ever sent to. */
export function readDeliveries(sql: Sql, peers: readonly string[]): Promise<PeerDelivery[]> {
  return sql<PeerDelivery[]>`
    select d.peer, d.failures, d.failing_since, d.next_attempt_at, d.last_success_at, d.last_error, d.last_error_at,
           (select count(*)
              from federation.outbox_items o
             where o.peer = d.peer
               and o.status = 'queued') as queued
      from federation.peer_deliveries d
     where d.peer = any (${[...peers]}::text[])`;
}
