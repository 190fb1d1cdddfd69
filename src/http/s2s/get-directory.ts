// GET /federation/v1/directory: who is here, as far as each principal lets this asker see it; a pinned peer signs to see more.
import { type Gateway, proveReader } from '../../federation/index.js';
import { type Asker, directoryFor } from '../../home/index.js';
import type { DoorContext, Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { listOf, pageQuery, textAt } from '../page.js';
import { doorRequestOf } from './door-request.js';

export function getDirectory(gateway: Gateway): Endpoint {
  return {
    method: 'GET',
    path: '/federation/v1/directory',
    takes: { query: pageQuery },
    async handle(ctx) {
      const list = listOf(ctx, queryOf(ctx, pageQuery));
      const asker = await askerOf(gateway, ctx);
      const page = await directoryFor(gateway.db.sql, asker, { after: textAt(list.from), limit: list.limit });
      ctx.set('Cache-Control', asker === 'public' ? 'public, max-age=60' : 'private, no-store');
      ctx.body = {
        items: page.entries.map(({ address, principalId, kind, displayName }) => ({
          address,
          principal_id: principalId,
          kind,
          display_name: displayName,
        })),
        next_cursor: page.next === undefined ? null : list.cursorAt([page.next]),
      };
    },
  };
}

/** A signature that is there must hold; without one, or from a domain that is not pinned, the asker is the public. */
async function askerOf(gateway: Gateway, ctx: DoorContext): Promise<Asker> {
  if (ctx.get('Signature') === '') return 'public';
  const { peer } = await proveReader(gateway, doorRequestOf(ctx, 'GET'));
  ctx.state.verified = true;
  return peer.relationship === 'pinned' ? 'peer' : 'public';
}
