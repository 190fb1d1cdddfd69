// The SQL that puts signed envelopes into the outbox, in the order of their commits.
import type { Tx } from '../../platform/index.js';
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

const deadAfterMs = 5 * 24 * 3_600_000;

/** Gives the items their places under their peers' row locks, so that places and commits are in one order. */
export async function queueItems(tx: Tx, items: readonly QueueItem[]): Promise<void> {
  const counts = new Map<Domain, number>();
  for (const { peer } of items) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  // In one order, so that two commits for the same peers never wait for each other in a ring.
  for (const peer of [...counts.keys()].sort()) {
    const count = counts.get(peer) ?? 0;
    const last = await reservePlaces(tx, peer, count);
    const own = items.filter((item) => item.peer === peer);
    await insertItems(
      tx,
      own.map((item, index) => queueRow(item, last - count + 1 + index)),
    );
  }
}

/** Answers the last of `count` new places. */
async function reservePlaces(tx: Tx, peer: Domain, count: number): Promise<number> {
  const [row] = await tx<{ lastPosition: number }[]>`
    insert into federation.peer_deliveries as d (peer, last_position)
    values (${peer}, ${count})
    on conflict (peer) do update
       set last_position = d.last_position + ${count}
    returning last_position`;
  if (!row) throw new Error(`no delivery row for ${peer}`);
  return row.lastPosition;
}

async function insertItems(tx: Tx, rows: readonly ReturnType<typeof queueRow>[]): Promise<void> {
  await tx`
    insert into federation.outbox_items (peer, position, home, message_id, sender, recipients, conversation_id,
           effect_id, header, signature, body, status, dead_at)
    select peer, position, home, message_id, sender, recipients, conversation_id, effect_id, decode(header, 'base64'),
           signature, decode(body, 'base64'), 'queued',
           least(expires_at, hearth_now() + ${deadAfterMs} * interval '1 millisecond')
      from jsonb_to_recordset(${tx.json(rows)})
           as o (peer text, position bigint, home text, message_id text, sender text, recipients text[],
                 conversation_id text, effect_id text, header text, signature text, body text, expires_at timestamptz)`;
}

function queueRow(item: QueueItem, position: number) {
  return {
    peer: item.peer,
    position,
    home: item.home,
    message_id: item.messageId,
    sender: item.sender,
    recipients: item.recipients,
    conversation_id: item.conversationId,
    effect_id: item.effectId,
    header: base64Of(item.header),
    signature: item.signature,
    body: base64Of(item.body),
    expires_at: item.expiresAt.toISOString(),
  };
}

/** JSON carries no bytes. */
function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
