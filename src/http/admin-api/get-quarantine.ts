// GET /admin/v1/quarantine?peer=: what domains that nobody pinned have sent, by who and to whom, never what it says.
import { type HeldItem, listQuarantine } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { domainSchema, formatInstant } from '../../protocol/index.js';
import type { Place } from '../cursor.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageOf, pageQuery } from '../page.js';

const query = pageQuery.extend({ peer: domainSchema.optional() });

export function getQuarantine({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/quarantine',
    takes: { query },
    async handle(ctx) {
      requireOperator(ctx);
      const asked = queryOf(ctx, query);
      const list = listOf(ctx, asked);
      const after = list.from && heldAt(list.from);
      const found = await listQuarantine(db.sql, { peer: asked.peer, after, limit: list.limit + 1 });
      const page = pageOf(list, found, (item) => [item.peer, item.sender, item.messageId, item.recipient]);
      ctx.body = { ...page, items: page.items.map(heldView) };
    },
  };
}

function heldAt(place: Place) {
  const [peer = '', sender = '', messageId = '', recipient = ''] = place.map(String);
  return { peer, sender, messageId, recipient };
}

function heldView(item: HeldItem): object {
  return {
    peer: item.peer,
    message_id: item.messageId,
    sender: item.sender,
    recipient: item.recipient,
    bytes: item.bytes,
    received_at: formatInstant(item.receivedAt),
    expires_at: formatInstant(item.expiresAt),
  };
}
