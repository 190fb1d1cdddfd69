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

/** False when the receipt is here already: the first one stands. */
export async function saveReceipt(tx: Tx, receipt: MessageReceipt): Promise<boolean> {
  const rows = await tx`
    insert into federation.receipts (home, receipt_id, direction, type, issuer, subject_ref, subject_digest, recipient,
           code, peer, transaction_id)
    values (${receipt.home}, ${receipt.receiptId}, ${receipt.direction}, ${receipt.type}, ${receipt.issuer},
            ${receipt.subjectRef}, ${receipt.subjectDigest}, ${receipt.recipient}, ${receipt.code ?? null},
            ${receipt.peer}, ${receipt.transactionId})
    on conflict (home, direction, receipt_id) do nothing
    returning 1`;
  return rows.length === 1;
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
