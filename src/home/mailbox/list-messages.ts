// Reads a mailbox by cursor: the cursor is the position of the last message that the reader has.
import type { Sql } from '../../platform/index.js';
import { Problem } from '../../protocol/index.js';
import type { MailboxMessage } from './mailbox-message.js';
import { readMailboxHead, readMessagesAfter } from './store.js';

export interface MessagePage {
  messages: MailboxMessage[];
  /** Give it as `after` to go on; equal to the one given when there is nothing new. */
  next: number;
  /** The last position when the page was read. */
  last: number;
}

/**
 * Without `after` it starts at the oldest message kept. A cursor beyond the end and one before what is kept are errors:
 * both mean that the reader believes something that is not so.
 */
export async function listMessages(
  sql: Sql,
  home: string,
  { after, limit }: { after?: number | undefined; limit: number },
): Promise<MessagePage> {
  // The head is read first: what is stored meanwhile only makes the page end later.
  const last = await readMailboxHead(sql, home);
  if (last === undefined) throw new Problem('not_found', 'there is no such mailbox');
  const from = after ?? 0;
  if (from > last) throw new Problem('cursor_ahead', `the cursor ${from} lies beyond ${last}`, { extra: { last } });
  const messages = await readMessagesAfter(sql, home, { after: from, limit });
  const [first] = messages;
  // Positions have no holes, so a jump at the start means that retention has passed the reader by.
  const isGap = first ? first.position > from + 1 : last > from;
  if (after !== undefined && isGap) {
    throw new Problem('cursor_gone', `messages after ${from} are no longer kept`, {
      extra: { first: first?.position ?? last + 1 },
    });
  }
  return { messages, next: messages.at(-1)?.position ?? Math.max(from, last), last };
}
