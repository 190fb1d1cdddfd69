// GET /admin/v1/quarantine?peer=: what domains that nobody pinned have sent, by who and to whom, never what it says.
import { z } from 'zod';
import { type HeldItem, listQuarantine } from '../../federation/index.js';
import type { Sql } from '../../platform/index.js';
import { domainSchema, formatInstant, Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { queryOf } from '../middleware/body.js';
import { decodeCursor, pageOf, pageQuery } from '../page.js';

// A place in the list is four names, longer together than what other lists go on from.
const query = pageQuery.extend({ peer: domainSchema.optional(), cursor: z.string().max(2_048).optional() });

export function getQuarantine({ db }: { db: { sql: Sql } }): Endpoint {
  return {
    method: 'GET',
    path: '/admin/v1/quarantine',
    takes: { query },
    async handle(ctx) {
      requireOperator(ctx);
      const { peer, limit, cursor } = queryOf(ctx, query);
      const found = await listQuarantine(db.sql, { peer, after: placeOf(decodeCursor(cursor)), limit: limit + 1 });
      // None of the four has a space in it.
      const page = pageOf(found, limit, (item) => [item.peer, item.sender, item.messageId, item.recipient].join(' '));
      ctx.body = { ...page, items: page.items.map(heldView) };
    },
  };
}

function placeOf(key: string | undefined) {
  if (key === undefined) return undefined;
  const [peer, sender, messageId, recipient] = key.split(' ');
  if (peer === undefined || sender === undefined || messageId === undefined || recipient === undefined) {
    throw new Problem('schema_invalid', 'cursor: not one that was given out here');
  }
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
