// What both sides of the floor share: their keys and database, and how a receipt is kept.
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { type Database, systemClock, type Tx } from '../src/platform/index.js';
import { type BenchDatabase, openBenchDatabase } from './bench-database.js';

const keys = generateKeyPairSync('ed25519');
export const homes = 16;
let store: BenchDatabase | undefined;
let peerKey: KeyObject | undefined;

export interface Envelope {
  header: string;
  signature: string;
  body: string;
}

export type Result = { message_id: string; recipient: string; result: 'accepted' | 'duplicate'; receipt_id: string };

export function database(): Database {
  if (!store) throw new Error('not started');
  return store.database;
}

export async function openSide(dataDirectory: string): Promise<string> {
  store = await openBenchDatabase(dataDirectory, systemClock());
  for (let index = 0; index < homes; index += 1)
    await database().sql`insert into home.mailboxes (home) values (${`home${index}`})`;
  await database().sql`insert into federation.peer_deliveries (peer) values ('peer.test')`;
  return keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

export async function closeSide(): Promise<void> {
  await store?.close();
}

export function trust(publicKey: string): void {
  peerKey = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
}

export function signed(text: string): string {
  return sign(null, Buffer.from(text), keys.privateKey).toString('base64url');
}

export function requireSigned(text: string, signature: string): void {
  if (peerKey && verify(null, Buffer.from(text), peerKey, Buffer.from(signature, 'base64url'))) return;
  throw new Error('the signature does not hold');
}

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

export interface Receipts {
  results: Result[];
  homes: string[];
  digests: string[];
  transactionId: string;
  token: string;
}

export async function saveReceipts(tx: Tx, direction: 'issued' | 'received', all: Receipts[]): Promise<void> {
  const rows = all.flatMap(({ results, homes: of, digests, transactionId }) =>
    results.map(({ message_id, recipient, receipt_id }, index) => ({
      home: of[index] ?? '',
      receipt_id,
      direction,
      type: 'delivery.accepted',
      issuer: 'beta.test',
      subject_ref: message_id,
      subject_digest: digests[index] ?? '',
      recipient,
      peer: 'peer.test',
      transaction_id: transactionId,
    })),
  );
  await tx`insert into federation.receipts ${tx(rows)} on conflict do nothing`;
  const tokens = all.map(({ transactionId, token }) => ({
    peer: 'peer.test',
    transaction_id: transactionId,
    direction,
    token,
  }));
  await tx`insert into federation.transaction_receipts ${tx(tokens)}`;
}
