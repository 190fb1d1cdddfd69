// The SQL of quarantine.
import type { Sql, Tx } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';
import { bytesOf, type QuarantineItem, type QuarantineLoad, quarantineAgeMs } from './quarantine.js';

/** Makes counting and adding one step. Only parking waits here; reading and delivery do not. */
export async function lockQuarantine(tx: Tx): Promise<void> {
  await tx`lock table federation.quarantine_items in share row exclusive mode`;
}

export async function readLoad(tx: Tx, origin: Domain): Promise<{ origin: QuarantineLoad; all: QuarantineLoad }> {
  const [row] = await tx<{ originItems: number; originBytes: number; allItems: number; allBytes: number }[]>`
    select count(*) filter (where peer = ${origin}) as origin_items,
           coalesce(sum(bytes) filter (where peer = ${origin}), 0)::bigint as origin_bytes,
           count(*) as all_items,
           coalesce(sum(bytes), 0)::bigint as all_bytes
      from federation.quarantine_items`;
  return {
    origin: { items: row?.originItems ?? 0, bytes: row?.originBytes ?? 0 },
    all: { items: row?.allItems ?? 0, bytes: row?.allBytes ?? 0 },
  };
}

/** Of these items, how many are held already: a repeat takes no more room. */
export async function readHeld(tx: Tx, origin: Domain, items: readonly QuarantineItem[]): Promise<ReadonlySet<string>> {
  const rows = await tx<{ sender: string; messageId: string; recipient: string }[]>`
    select sender, message_id, recipient
      from federation.quarantine_items
     where peer = ${origin}
       and message_id = any(${items.map((item) => item.messageId)})`;
  return new Set(rows.map((row) => quarantineKey(row)));
}

export function quarantineKey(item: { sender: string; messageId: string; recipient: string }): string {
  return `${item.sender}\n${item.messageId}\n${item.recipient}`;
}

export async function insertItem(tx: Tx, origin: Domain, item: QuarantineItem): Promise<void> {
  await tx`
    insert into federation.quarantine_items (peer, message_id, recipient, sender, header, signature, body, bytes, expires_at)
    values (${origin}, ${item.messageId}, ${item.recipient}, ${item.sender}, ${item.header}, ${item.signature},
            ${item.body}, ${bytesOf(item)}, hearth_now() + ${quarantineAgeMs} * interval '1 millisecond')
    on conflict do nothing`;
}

/** Drops what is past its age; a bounded part at a time. */
export async function dropExpired(tx: Tx, limit: number): Promise<number> {
  const rows = await tx`
    delete from federation.quarantine_items
     where ctid = any(array(select ctid
                              from federation.quarantine_items
                             where expires_at <= hearth_now()
                             order by expires_at
                             limit ${limit}))
    returning 1`;
  return rows.length;
}

export interface HeldItem {
  peer: Domain;
  messageId: string;
  recipient: string;
  sender: string;
  bytes: number;
  receivedAt: Date;
  expiresAt: Date;
}

export interface ListQuarantine {
  peer?: Domain | undefined;
  /** The last item of the page before. */
  after?: { peer: string; sender: string; messageId: string; recipient: string } | undefined;
  limit: number;
}

/** By origin, without what the items say. */
export async function listQuarantine(sql: Sql, { peer, after, limit }: ListQuarantine): Promise<HeldItem[]> {
  return sql<HeldItem[]>`
    select peer, message_id, recipient, sender, bytes, received_at, expires_at
      from federation.quarantine_items
     where (${peer ?? null}::text is null or peer = ${peer ?? null})
       and (peer, sender, message_id, recipient)
           > (${after?.peer ?? ''}, ${after?.sender ?? ''}, ${after?.messageId ?? ''}, ${after?.recipient ?? ''})
     order by peer, sender, message_id, recipient
     limit ${limit}`;
}

/** What is held of one origin, or one message of it; an origin never holds more than its bound. */
export async function deleteHeld(
  tx: Tx,
  { peer, messageId }: { peer: Domain; messageId: string | undefined },
): Promise<number> {
  const rows = await tx`
    delete from federation.quarantine_items
     where peer = ${peer}
       and (${messageId ?? null}::text is null or message_id = ${messageId ?? null})
    returning 1`;
  return rows.length;
}
