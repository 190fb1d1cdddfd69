/**
 * The floor: the least that two Node processes can do and still be honest. Sign, outbox row, HTTP, verify, dedupe, mailbox
 * row, signed receipt, outbox settled; the tables, bytes and durability of a domain, and nothing else: no policy, no
 * framework, no effect record, no audit, no commitments, no certificates, no signed request.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import type { Sql } from '../src/platform/index.js';
import { closeDoor, openDoor } from './floor-receiver.js';
import {
  closeSide,
  database,
  digestOf,
  type Envelope,
  homes,
  openSide,
  type Result,
  requireSigned,
  saveReceipts,
  signed,
  trust,
} from './floor-side.js';
import { shareCommits } from './group-commit.js';
import { serve } from './node-process.js';

const batchSize = 50;
const inFlight = 4;
let pool: Pool | undefined;

type Queued = Envelope & { messageId: string; conversationId: string; home: string; position: number };

async function start({ dataDirectory, listen }: { dataDirectory: string; listen: boolean }) {
  return { publicKey: await openSide(dataDirectory), port: listen ? await openDoor() : 0 };
}

async function know({ publicKey, port }: { publicKey: string; port: number }): Promise<void> {
  trust(publicKey);
  if (port > 0) pool = new Pool(`http://127.0.0.1:${port}`, { connections: 32 });
}

function seal(index: number, body: string): Omit<Queued, 'position'> {
  const [home, messageId] = [`home${index % homes}`, `msg_${randomUUID()}`];
  const conversationId = `conv_alpha.test_${home}_${index % 32}`;
  const header = JSON.stringify({
    body_digest: digestOf(body),
    content_type: 'application/agent-interaction+json',
    conversation_id: conversationId,
    expires_at: '2099-01-01T00:00:00.000Z',
    interaction_type: 'message',
    issued_at: '2026-01-01T00:00:00.000Z',
    key_id: `key://alpha.test/users/person-${index % homes}/1`,
    message_id: messageId,
    prev: `msg_${randomUUID()}`,
    sender: `human://alpha.test/users/person-${index % homes}`,
    sender_domain: 'alpha.test',
    to: [`human://beta.test/users/person-${index % homes}`],
  });
  return {
    header,
    signature: signed(header),
    body,
    messageId,
    conversationId,
    home,
  };
}

async function insertOutbox(items: Omit<Queued, 'position'>[]): Promise<Queued[]> {
  return database().transact('outbox', async (tx) => {
    const [row] = await tx<{ last: number }[]>`
      update federation.peer_deliveries set last_position = last_position + ${items.length}
       where peer = 'peer.test' returning last_position as last`;
    const first = (row?.last ?? 0) - items.length + 1;
    const queued = items.map((item, index) => ({ ...item, position: first + index }));
    await tx`insert into federation.outbox_items ${tx(queued.map(outboxRow))}`;
    return queued;
  });
}

function outboxRow({ position, home, messageId, conversationId, header, signature, body }: Queued) {
  const { sender, to }: { sender: string; to: string[] } = JSON.parse(header);
  return {
    peer: 'peer.test',
    position,
    home,
    message_id: messageId,
    sender,
    recipients: to,
    conversation_id: conversationId,
    effect_id: `eff_${messageId}`,
    header: Buffer.from(header),
    signature,
    body: Buffer.from(body),
    status: 'queued',
    dead_at: '2099-01-01T00:00:00.000Z',
  };
}

async function deliver(items: Queued[]): Promise<void> {
  const transactionId = `txn_${randomUUID()}`;
  const envelopes = items.map(({ header, signature, body }) => ({ header, signature, body }));
  const sent = JSON.stringify({ transaction_id: transactionId, envelopes });
  const answer = await pool?.request({ method: 'POST', path: '/', body: sent });
  const { receipt, signature }: { receipt: string; signature: string } = JSON.parse((await answer?.body.text()) ?? '');
  requireSigned(receipt, signature);
  const said: { digest: string; results: Result[] } = JSON.parse(receipt);
  if (said.digest !== digestOf(sent) || said.results.length !== items.length)
    throw new Error('receipt of something else');
  await settle({ items, results: said.results, transactionId, token: `${receipt}.${signature}` });
}

interface Settle {
  items: Queued[];
  results: Result[];
  transactionId: string;
  token: string;
}

const settle = shareCommits(async (settles: Settle[]) => {
  await database().transact('settle', async (tx) => {
    const positions = settles.flatMap(({ items }) => items.map(({ position }) => position));
    await tx`
      update federation.outbox_items set status = 'delivered', settled_at = hearth_now()
       where peer = 'peer.test' and position = any(${positions}::bigint[]) and status = 'queued'`;
    await saveReceipts(
      tx,
      'received',
      settles.map(({ results, ...rest }) => ({
        ...rest,
        results,
        homes: rest.items.map(({ home }) => home),
        digests: rest.items.map(({ header }) => digestOf(header)),
      })),
    );
  });
  return settles.map(() => true);
});

async function queue({ count, body }: { count: number; body: string }): Promise<void> {
  for (let done = 0; done < count; done += batchSize) {
    await insertOutbox(
      Array.from({ length: Math.min(batchSize, count - done) }, (_, index) => seal(done + index, body)),
    );
  }
}

/** 50 a batch, 4 in flight; what is taken is read from the outbox, as after a restart. */
async function drain(): Promise<{ exchangesMs: number[] }> {
  const exchangesMs: number[] = [];
  let after = 0;
  let taking: Promise<Queued[]> = Promise.resolve([]);
  const take = () => {
    taking = taking.then(async () => {
      const items = await takeQueued(database().sql, after);
      after = items.at(-1)?.position ?? after;
      return items;
    });
    return taking;
  };
  async function lane(): Promise<void> {
    for (let items = await take(); items.length > 0; items = await take()) {
      const startMs = performance.now();
      await deliver(items);
      exchangesMs.push(performance.now() - startMs);
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { exchangesMs };
}

async function takeQueued(sql: Sql, after: number): Promise<Queued[]> {
  const rows = await sql<
    {
      position: number;
      home: string;
      messageId: string;
      conversationId: string;
      header: Uint8Array;
      signature: string;
      body: Uint8Array;
    }[]
  >`
    select position, home, message_id, conversation_id, header, signature, body from federation.outbox_items
     where peer = 'peer.test' and status = 'queued' and position > ${after} order by position limit ${batchSize}`;
  return rows.map((row) => ({
    ...row,
    header: Buffer.from(row.header).toString(),
    body: Buffer.from(row.body).toString(),
  }));
}

/** Each worker: one envelope, one request, its receipt, then the next; commits are shared on both sides. */
async function singles({
  workers,
  count,
  body,
}: {
  workers: number;
  count: number;
  body: string;
}): Promise<{ latenciesMs: number[] }> {
  const enqueue = shareCommits(insertOutbox);
  const latenciesMs: number[] = [];
  let left = count;
  async function work(index: number): Promise<void> {
    while (left > 0) {
      left -= 1;
      const startMs = performance.now();
      await deliver([await enqueue(seal(index, body))]);
      latenciesMs.push(performance.now() - startMs);
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index)));
  return { latenciesMs };
}

serve({
  start,
  know,
  queue,
  drain,
  singles,
  async stop() {
    await pool?.close();
    closeDoor();
    await closeSide();
  },
});
