// What the machine itself can do with the floor's bytes: signatures on one core, and rows of the floor's own tables.
import { generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto';
import { systemClock } from '../src/platform/index.js';
import { type BenchDatabase, openBenchDatabase } from './bench-database.js';
import { serve } from './node-process.js';

const keys = generateKeyPairSync('ed25519');
let store: BenchDatabase | undefined;

async function start({ dataDirectory }: { dataDirectory: string }): Promise<void> {
  store = await openBenchDatabase(dataDirectory, systemClock());
}

/** Per second, on this one thread. */
async function signatures({ forMs }: { forMs: number }): Promise<{ signs: number; verifications: number }> {
  const bytes = Buffer.alloc(700, 'x');
  const signature = sign(null, bytes, keys.privateKey);
  return {
    signs: rate(forMs, () => void sign(null, bytes, keys.privateKey)),
    verifications: rate(forMs, () => void verify(null, bytes, keys.publicKey, signature)),
  };
}

function rate(forMs: number, work: () => void): number {
  const startMs = performance.now();
  let done = 0;
  while (performance.now() - startMs < forMs) {
    for (let at = 0; at < 50; at += 1) work();
    done += 50;
  }
  return (done * 1000) / (performance.now() - startMs);
}

/** Mailbox rows per second: `rows` to a commit, `clients` at once. */
async function inserts({ rows, clients, forMs }: { rows: number; clients: number; forMs: number }): Promise<number> {
  const database = store?.database;
  if (!database) throw new Error('not started');
  const startMs = performance.now();
  let done = 0;
  async function client(index: number): Promise<void> {
    const home = `machine${index}x${randomUUID().slice(0, 8)}`;
    for (let position = 0; performance.now() - startMs < forMs; position += rows) {
      const batch = Array.from({ length: rows }, (_, at) => mailboxRow(home, position + at));
      await database?.transact('insert', (tx) => tx`insert into home.mailbox_messages ${tx(batch)}`);
      done += rows;
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return (done * 1000) / (performance.now() - startMs);
}

function mailboxRow(home: string, position: number) {
  return {
    home,
    position,
    direction: 'in',
    origin_domain: 'alpha.test',
    sender: 'human://alpha.test/users/person-1',
    message_id: `msg_${randomUUID()}`,
    conversation_id: `conv_alpha.test_${home}_1`,
    interaction_type: 'message',
    content_type: 'application/agent-interaction+json',
    header: Buffer.alloc(700, 'h'),
    header_digest: `sha256:${'0'.repeat(64)}`,
    body: Buffer.alloc(2048, 'b'),
    receipt_id: `rcpt_${randomUUID()}`,
  };
}

serve({
  start,
  signatures,
  inserts,
  async stop() {
    await store?.close();
  },
});
