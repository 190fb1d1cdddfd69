// The SQL of receipts: the signed tokens over transactions, and what they say of one message each.
import type { Sql, Tx } from '../../platform/index.js';
import type { Domain } from '../../protocol/index.js';

export interface TransactionToken {
  peer: Domain;
  transactionId: string;
  direction: 'issued' | 'received';
  token: string;
}

export async function saveTransactionReceipt(tx: Tx, receipt: TransactionToken): Promise<void> {
  await tx`
    insert into federation.transaction_receipts (peer, transaction_id, direction, token)
    values (${receipt.peer}, ${receipt.transactionId}, ${receipt.direction}, ${receipt.token})
    on conflict (peer, transaction_id, direction) do nothing`;
}

export interface MessageReceipt {
  home: string;
  receiptId: string;
  direction: 'issued' | 'received';
  type: string;
  issuer: string;
  subjectRef: string;
  subjectDigest: string;
  recipient: string;
  code?: string | undefined;
  peer: Domain;
  transactionId: string;
}

/** A receipt that is here already stands. */
export async function saveReceipts(tx: Tx, receipts: readonly MessageReceipt[]): Promise<void> {
  if (receipts.length === 0) return;
  const rows = receipts.map((receipt) => ({
    home: receipt.home,
    receipt_id: receipt.receiptId,
    direction: receipt.direction,
    type: receipt.type,
    issuer: receipt.issuer,
    subject_ref: receipt.subjectRef,
    subject_digest: receipt.subjectDigest,
    recipient: receipt.recipient,
    code: receipt.code ?? null,
    peer: receipt.peer,
    transaction_id: receipt.transactionId,
  }));
  await tx`
    insert into federation.receipts (home, receipt_id, direction, type, issuer, subject_ref, subject_digest, recipient,
           code, peer, transaction_id)
    select home, receipt_id, direction, type, issuer, subject_ref, subject_digest, recipient, code, peer, transaction_id
      from jsonb_to_recordset(${tx.json(rows)})
           as r (home text, receipt_id text, direction text, type text, issuer text, subject_ref text,
                 subject_digest text, recipient text, code text, peer text, transaction_id text)
    on conflict (home, direction, receipt_id) do nothing`;
}

export function readReceiptsOf(
  sql: Sql,
  { home, messageId }: { home: string; messageId: string },
): Promise<MessageReceipt[]> {
  return sql<MessageReceipt[]>`
    select home, receipt_id, direction, type, issuer, subject_ref, subject_digest, recipient, code, peer, transaction_id
      from federation.receipts
     where home = ${home}
       and subject_ref = ${messageId}
     order by stored_at, receipt_id
     limit 100`;
}
