import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  linkMessageInput,
  listMessages,
  lockMailboxes,
  messageOfTransport,
  type NewMessage,
  readConversation,
  readConversationMessages,
  rememberConversation,
  type StoreResult,
  storeMessage,
} from '../../src/home/index.js';
import { digestOf, parseStrictJson, toUtf8 } from '../../src/protocol/index.js';
import { addPrincipal, type HomeFixture, openHome } from './home-fixture.js';

describe('a mailbox', () => {
  let home: HomeFixture;
  let count = 0;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  async function freshMailbox(): Promise<string> {
    count += 1;
    return (await addPrincipal(home, `user-${count}`)).home;
  }

  function message(mailbox: string, changes: Partial<NewMessage> = {}): NewMessage {
    const header = toUtf8(`{"message_id":"${changes.messageId ?? 'msg-1'}"}`);
    return {
      home: mailbox,
      direction: 'in',
      originDomain: 'beta.test',
      sender: 'agent://beta.test/agents/s1',
      messageId: 'msg-1',
      interactionType: 'message',
      contentType: 'text/plain',
      header,
      headerDigest: digestOf(header),
      body: toUtf8('hello'),
      receiptId: 'rcpt-1',
      ...changes,
    };
  }

  function store(given: NewMessage): Promise<StoreResult> {
    return home.db.transact('test', (tx) => storeMessage(tx, given));
  }

  it('BR-20: the same message id reaches two mailboxes, and two senders may use one id', async () => {
    const [x, y] = [await freshMailbox(), await freshMailbox()];
    expect(await store(message(x))).toEqual({ stored: true, position: 1 });
    expect(await store(message(y))).toEqual({ stored: true, position: 1 });
    expect(await store(message(x, { sender: 'agent://beta.test/agents/s2' }))).toEqual({ stored: true, position: 2 });
    expect(await store(message(x, { originDomain: 'gamma.test' }))).toEqual({ stored: true, position: 3 });
    expect(await store(message(x, { direction: 'out' }))).toEqual({ stored: true, position: 4 });
  });

  it('BR-20: an exact repeat is kept once and answered with the first receipt and digest', async () => {
    const mailbox = await freshMailbox();
    const first = message(mailbox);
    await store(first);
    const other = toUtf8('{"message_id":"msg-1","other":true}');
    const repeat = { ...first, header: other, headerDigest: digestOf(other), receiptId: 'rcpt-2' };
    expect(await store(repeat)).toEqual({
      stored: false,
      existing: { position: 1, headerDigest: first.headerDigest, receiptId: 'rcpt-1', inputId: null },
    });
    expect((await listMessages(home.db.sql, mailbox, { limit: 10 })).messages).toHaveLength(1);
  });

  it('numbers concurrent messages without holes and stores each repeat once', async () => {
    const mailbox = await freshMailbox();
    const ids = Array.from({ length: 40 }, (_, index) => `msg-${index % 20}`);
    const results = await Promise.all(ids.map((messageId) => store(message(mailbox, { messageId }))));
    expect(results.filter((result) => result.stored)).toHaveLength(20);
    const { messages, last } = await listMessages(home.db.sql, mailbox, { limit: 100 });
    expect(messages.map((each) => each.position)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(last).toBe(20);
  });

  it('shows a reader by cursor every message once, while writers go on', async () => {
    const mailbox = await freshMailbox();
    const seen: string[] = [];
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 60 }, (_, index) => store(message(mailbox, { messageId: `msg-${index}` }))),
    ).then(() => {
      writing = false;
    });
    for (let after = 0, quiet = false; !quiet; ) {
      quiet = !writing;
      const page = await listMessages(home.db.sql, mailbox, { after, limit: 7 });
      seen.push(...page.messages.map((each) => each.messageId));
      quiet = quiet && page.messages.length === 0;
      after = page.next;
    }
    await writers;
    expect(seen).toHaveLength(60);
    expect(new Set(seen).size).toBe(60);
  });

  it('keeps the bytes as they came, and notes once which input they became', async () => {
    const mailbox = await freshMailbox();
    const body = Uint8Array.from({ length: 256 }, (_, index) => index);
    await store(message(mailbox, { body }));
    for (const inputId of ['in-1', 'in-2']) {
      await home.db.transact('test', (tx) => linkMessageInput(tx, { home: mailbox, position: 1, inputId }));
    }
    const [kept] = (await listMessages(home.db.sql, mailbox, { limit: 1 })).messages;
    expect(new Uint8Array(kept?.body ?? [])).toEqual(body);
    expect(kept?.inputId).toBe('in-1');
  });

  it('answers a cursor beyond the end, and one before what is kept, as errors', async () => {
    const mailbox = await freshMailbox();
    for (const messageId of ['a', 'b', 'c']) await store(message(mailbox, { messageId }));
    const read = (after?: number) => listMessages(home.db.sql, mailbox, { after, limit: 10 });
    expect(await read(3)).toEqual({ messages: [], next: 3, last: 3 });
    await expect(read(4)).rejects.toMatchObject({ code: 'cursor_ahead' });
    await home.db.sql`delete from home.mailbox_messages where home = ${mailbox} and position <= 2`;
    await expect(read(0)).rejects.toMatchObject({ code: 'cursor_gap', extra: { oldest: 2 } });
    await expect(read(1)).rejects.toMatchObject({ code: 'cursor_gap' });
    expect((await read(2)).messages).toHaveLength(1);
    expect((await read()).messages).toHaveLength(1);
    await home.db.sql`delete from home.mailbox_messages where home = ${mailbox}`;
    await expect(read(2)).rejects.toMatchObject({ code: 'cursor_gap' });
    expect(await read()).toEqual({ messages: [], next: 3, last: 3 });
    expect(await store(message(mailbox, { messageId: 'd' }))).toEqual({ stored: true, position: 4 });
  });

  it('is locked in one order, so that batches to the same mailboxes in other orders all commit', async () => {
    const mailboxes = [await freshMailbox(), await freshMailbox(), await freshMailbox()];
    const batch = (order: string[], messageId: string) =>
      home.db.transact('test', async (tx) => {
        await lockMailboxes(tx, order);
        for (const mailbox of order) await storeMessage(tx, message(mailbox, { messageId }));
      });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        batch(index % 2 === 0 ? mailboxes : [...mailboxes].reverse(), `msg-${index}`),
      ),
    );
    for (const mailbox of mailboxes) {
      expect((await listMessages(home.db.sql, mailbox, { limit: 50 })).messages).toHaveLength(20);
    }
  });

  it('takes what came without an envelope under the authenticated sender, whatever the facts say', async () => {
    const mailbox = await freshMailbox();
    const entry = messageOfTransport({
      home: mailbox,
      domain: 'alpha.test',
      sender: 'service://alpha.test/github',
      sourceEventId: 'delivery-1',
      type: 'github.push',
      contentType: 'application/json',
      facts: { event: 'push', sender: 'service://alpha.test/somebody-else' },
      body: toUtf8('{}'),
    });
    await store(entry);
    const [kept] = (await listMessages(home.db.sql, mailbox, { limit: 1 })).messages;
    expect(kept).toMatchObject({
      sender: 'service://alpha.test/github',
      messageId: 'delivery-1',
      originDomain: 'alpha.test',
    });
    expect(parseStrictJson(kept?.header ?? '', { maxBytes: 1_024 })).toEqual({
      event: 'push',
      sender: 'service://alpha.test/github',
      source_event_id: 'delivery-1',
      type: 'github.push',
    });
  });

  it('remembers a conversation once and only adds participants', async () => {
    const mailbox = await freshMailbox();
    const conversation = {
      home: mailbox,
      conversationId: 'conv-1',
      createdBy: 'agent://beta.test/agents/s1',
      creatingDomain: 'beta.test',
    };
    const remember = (participants: string[], createdBy = conversation.createdBy) =>
      home.db.transact('test', (tx) => rememberConversation(tx, { ...conversation, createdBy, participants }));
    await remember(['b', 'a', 'b']);
    await remember(['c', 'a'], 'somebody-else');
    await remember([]);
    expect(await readConversation(home.db.sql, mailbox, 'conv-1')).toMatchObject({
      ...conversation,
      participants: ['a', 'b', 'c'],
    });
    expect(await readConversation(home.db.sql, await freshMailbox(), 'conv-1')).toBeUndefined();

    await store(message(mailbox, { messageId: 'in', conversationId: 'conv-1' }));
    await store(message(mailbox, { messageId: 'elsewhere', conversationId: 'conv-2' }));
    await store(message(mailbox, { messageId: 'out', conversationId: 'conv-1', direction: 'out' }));
    const read = await readConversationMessages(home.db.sql, mailbox, {
      conversationId: 'conv-1',
      after: 0,
      limit: 10,
    });
    expect(read.map((each) => each.messageId)).toEqual(['in', 'out']);
  });
});
