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
 * both mean that the reader believes something that is not so. `oldest` is the first cursor that can still be read from.
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
  if (from > last) throw new Problem('cursor_ahead', 'the cursor lies beyond the last message', { extra: { last } });
  const messages = await readMessagesAfter(sql, home, { after: from, limit });
  // Positions have no holes, so a jump at the start means that retention has passed the reader by.
  const first = messages[0]?.position ?? last + 1;
  if (after !== undefined && first > from + 1) {
    throw new Problem('cursor_gap', 'what followed this cursor is not kept any more', { extra: { oldest: first - 1 } });
  }
  return { messages, next: messages.at(-1)?.position ?? Math.max(from, last), last };
}
