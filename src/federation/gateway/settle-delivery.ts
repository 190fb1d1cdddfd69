/**
 * What the end of a delivery means to its sender: the item's state, the receipts, and news as an input, so that a run may
 * wait for it. Local history stays as it is whatever the peer says (D7).
 */
import { type AgentInput, acceptInput, appendAudit } from '../../foundation/index.js';
import { principalByHome } from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import { digestOf, type JsonObject, type TransactionResult } from '../../protocol/index.js';
import { endItem, holdItem, type ItemEnd, type OutboxItem } from '../outbox/index.js';
import { type Gateway, mintOf } from '../parts.js';
import { saveReceipt } from '../receipt/index.js';

interface ItemOutcome {
  end: ItemEnd | 'waits';
  reason: string | null;
  afterS: number;
}

/** What the results for an item's recipients amount to. Pure. */
function outcomeOf(results: readonly TransactionResult[]): ItemOutcome {
  const of = (kind: TransactionResult['result']) => results.filter(({ result }) => result === kind);
  const waits = of('retry');
  if (waits.length > 0) {
    return { end: 'waits', reason: null, afterS: Math.max(...waits.map(({ after }) => after ?? defaultWaitS), 1) };
  }
  if (of('parked').length > 0) return { end: 'parked', reason: null, afterS: 0 };
  const rejected = of('rejected');
  const code = rejected[0]?.code ?? null;
  if (rejected.length === results.length) return { end: 'rejected', reason: code, afterS: 0 };
  return { end: 'delivered', reason: rejected.length > 0 ? `partly_${code ?? 'rejected'}` : null, afterS: 0 };
}

const defaultWaitS = 60;

export interface SettleItem {
  item: OutboxItem;
  results: readonly TransactionResult[];
  transactionId: string;
}

/** True when the sender has news. */
export async function settleItem(gateway: Gateway, tx: Tx, settle: SettleItem): Promise<boolean> {
  const { item, results } = settle;
  const outcome = outcomeOf(results);
  if (outcome.end === 'waits') {
    await holdItem(tx, { ...item, afterS: outcome.afterS });
    return false;
  }
  if (!(await endItem(tx, { ...item, end: outcome.end, reason: outcome.reason }))) return false;
  for (const result of results) await keepReceipt(tx, settle, result);
  await tellSender(gateway, tx, { item, end: outcome.end, reason: outcome.reason, results });
  return true;
}

async function keepReceipt(tx: Tx, { item, transactionId }: SettleItem, result: TransactionResult): Promise<void> {
  const type = receiptTypes[result.result];
  if (type === undefined) return;
  await saveReceipt(tx, {
    home: item.home,
    // A peer names a receipt only for what it has stored; what it refused is named by the message itself.
    receiptId: result.receipt_id ?? `${item.messageId}/${result.recipient}`,
    direction: 'received',
    type,
    issuer: item.peer,
    subjectRef: item.messageId,
    subjectDigest: digestOf(item.header),
    recipient: result.recipient,
    code: result.code,
    peer: item.peer,
    transactionId,
  });
}

const receiptTypes: Partial<Record<TransactionResult['result'], string>> = {
  accepted: 'delivery.accepted',
  duplicate: 'delivery.accepted',
  parked: 'delivery.parked',
  rejected: 'delivery.rejected',
};

export interface DeliveryNews {
  item: OutboxItem;
  end: ItemEnd;
  reason: string | null;
  results: readonly TransactionResult[];
}

/** Tells the sending agent, as an input of the domain itself; a person reads it in the outbox. */
export async function tellSender(gateway: Gateway, tx: Tx, news: DeliveryNews): Promise<void> {
  const { item } = news;
  await appendAudit(tx, {
    home: item.home,
    actor: 'system:deliver-outbox',
    action: 'message.deliver',
    object: item.messageId,
    outcome: news.end,
    details: { peer: item.peer, attempt: item.attempt, ...(news.reason === null ? {} : { reason: news.reason }) },
  });
  const sender = await principalByHome(tx, item.home);
  if (sender?.kind !== 'agent') return;
  await acceptInput(tx, {
    ingress: {
      tenant: sender.tenant,
      home: item.home,
      source: `hearth://${gateway.domain.name}/delivery`,
      principal: `service://${gateway.domain.name}/gateway`,
      trustClass: 'trusted_fact',
    },
    input: newsInput(gateway, news),
    ids: mintOf(gateway),
  });
}

function newsInput(gateway: Gateway, { item, end, reason, results }: DeliveryNews): AgentInput {
  const data: JsonObject = {
    message_id: item.messageId,
    conversation_id: item.conversationId,
    destination: item.peer,
    end,
    ...(reason === null ? {} : { reason }),
    results: results.map(({ recipient, result, code, receipt_id }) => ({
      recipient,
      result,
      ...(code === undefined ? {} : { code }),
      ...(receipt_id === undefined ? {} : { receipt_id }),
    })),
  };
  return {
    kind: 'event',
    type: newsTypes[end],
    source_event_id: `delivery/${item.messageId}/${end}`,
    subject: { resource: item.messageId },
    target: { agent: item.sender, conversation_id: item.conversationId },
    occurred_at: gateway.clock.now().toISOString(),
    causation_id: item.effectId,
    data_content_type: 'application/json',
    data,
  };
}

const newsTypes: Record<ItemEnd, string> = {
  delivered: 'receipt.delivery.accepted',
  parked: 'receipt.delivery.parked',
  rejected: 'delivery.failed',
  dead: 'delivery.failed',
};
