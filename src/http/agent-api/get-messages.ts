// GET /v1/messages?after=: a mailbox as a log, the caller's own or that of an agent that it may see.
import { z } from 'zod';
import { listMessages, type MessagePage } from '../../home/index.js';
import { Problem } from '../../protocol/index.js';
import { callerOf, type Endpoint } from '../endpoint.js';
import { queryOf } from '../middleware/body.js';
import { type List, listOf, logQuery, numberAt, refuseCursor } from '../page.js';
import { type Access, readableHome } from './access.js';
import { messageView } from './message-view.js';

const query = logQuery.extend({ agent: z.string().max(255).optional() });

export function getMessages(access: Access): Endpoint {
  return {
    method: 'GET',
    path: '/v1/messages',
    takes: { query },
    async handle(ctx) {
      const asked = queryOf(ctx, query);
      const home = await readableHome(access, callerOf(ctx), asked.agent);
      const list = listOf(ctx, asked);
      const page = await readPage(access, home, list);
      ctx.body = { items: page.messages.map(messageView), cursor: list.cursorAt([page.next]), last: page.last };
    },
  };
}

async function readPage({ db }: Access, home: string, list: List): Promise<MessagePage> {
  try {
    return await listMessages(db.sql, home, { after: numberAt(list.from), limit: list.limit });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'cursor_gap') throw error;
    return refuseCursor(list, { kind: 'gap', oldest: [Number(error.extra?.oldest)] });
  }
}
