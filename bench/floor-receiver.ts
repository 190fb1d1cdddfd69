// The receiving side of the floor: verify, dedupe, mailbox row and receipt, one commit for whatever comes at the same time.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Tx } from '../src/platform/index.js';
import { database, digestOf, type Envelope, type Result, requireSigned, saveReceipts, signed } from './floor-side.js';
import { shareCommits } from './group-commit.js';

let server: Server | undefined;

export async function openDoor(): Promise<number> {
  const door = createServer((request, response) => void receive(request, response));
  server = door;
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const address = door.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

interface Received {
  header: Record<string, string> & { to: string[] };
  headerText: string;
  headerDigest: string;
  body: string;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { transaction_id, envelopes }: { transaction_id: string; envelopes: Envelope[] } = JSON.parse(text);
  const accepted = envelopes.map(check);
  const { receipt, signature } = await accept({ accepted, transactionId: transaction_id, digest: digestOf(text) });
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ receipt, signature }));
}

function check({ header: text, signature, body }: Envelope): Received {
  requireSigned(text, signature);
  const header: Received['header'] = JSON.parse(text);
  if (header.body_digest !== digestOf(body)) throw new Error('bad digest');
  return { header, headerText: text, headerDigest: digestOf(text), body };
}

interface Accept {
  accepted: Received[];
  transactionId: string;
  digest: string;
}

const accept = shareCommits(async (all: Accept[]) =>
  database().transact('accept', async (tx) => {
    const items = all.flatMap(({ accepted }) =>
      accepted.map((item) => ({
        ...item,
        home: `home${item.header.to[0]?.split('-')[1]}`,
        receiptId: `rcpt_${randomUUID()}`,
      })),
    );
    const positions = await reserve(
      tx,
      items.map(({ home }) => home),
    );
    const rows = items.map(({ header, headerText, headerDigest, body, home, receiptId }, index) => ({
      home,
      position: positions[index] ?? 0,
      direction: 'in',
      origin_domain: header.sender_domain ?? '',
      sender: header.sender ?? '',
      message_id: header.message_id ?? '',
      conversation_id: header.conversation_id ?? '',
      interaction_type: 'message',
      content_type: header.content_type ?? '',
      header: Buffer.from(headerText),
      header_digest: headerDigest,
      body: Buffer.from(body),
      receipt_id: receiptId,
    }));
    const stored = await tx<{ messageId: string }[]>`
      insert into home.mailbox_messages ${tx(rows)} on conflict on constraint mailbox_messages_tuple_unique do nothing returning message_id`;
    const fresh = new Set(stored.map(({ messageId }) => messageId));
    let at = 0;
    const answers = all.map(({ accepted, digest, transactionId }) => {
      const own = items.slice(at, at + accepted.length);
      at += accepted.length;
      const results: Result[] = own.map(({ header, receiptId }) => ({
        message_id: header.message_id ?? '',
        recipient: header.to[0] ?? '',
        result: fresh.has(header.message_id ?? '') ? 'accepted' : 'duplicate',
        receipt_id: receiptId,
      }));
      const receipt = JSON.stringify({ digest, results });
      const signature = signed(receipt);
      return {
        receipt,
        signature,
        token: `${receipt}.${signature}`,
        results,
        transactionId,
        homes: own.map(({ home }) => home),
        digests: own.map(({ headerDigest }) => headerDigest),
      };
    });
    await saveReceipts(tx, 'issued', answers);
    return answers;
  }),
);

/** The next position of each message, given under the row locks of the mailboxes. */
async function reserve(tx: Tx, wanted: string[]): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const home of wanted) counts.set(home, (counts.get(home) ?? 0) + 1);
  const rows = await tx<{ home: string; last: number }[]>`
    update home.mailboxes m set last_position = last_position + c.count
      from unnest(${[...counts.keys()]}::text[], ${[...counts.values()]}::bigint[]) c (home, count)
     where m.home = c.home returning m.home, last_position as last`;
  const next = new Map(rows.map(({ home, last }) => [home, last - (counts.get(home) ?? 0)]));
  return wanted.map((home) => {
    next.set(home, (next.get(home) ?? 0) + 1);
    return next.get(home) ?? 0;
  });
}

export function closeDoor(): void {
  server?.closeAllConnections();
  server?.close();
}
