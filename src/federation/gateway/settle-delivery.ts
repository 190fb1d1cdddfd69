/**
 * What the end of a delivery means to its sender: the item's state, the receipts, and news as an input, so that a run may
 * wait for it. Local history stays as it is whatever the peer says (D7).
 */
import {
  type AcceptInput,
  type AgentInput,
  type AuditEntry,
  acceptInputs,
  appendAudits,
} from '../../foundation/index.js';
import { type Principal, principalsByHome } from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import { digestOf, type JsonObject, type TransactionResult } from '../../protocol/index.js';
import { endItems, holdItems, type ItemEnd, type OutboxItem } from '../outbox/index.js';
import { type Gateway, mintOf } from '../parts.js';
import { type MessageReceipt, saveReceipts } from '../receipt/index.js';

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

export async function settleItems(gateway: Gateway, tx: Tx, settles: readonly SettleItem[]): Promise<void> {
  const decided = settles.map((settle) => ({ ...settle, ...outcomeOf(settle.results) }));
  await holdItems(
    tx,
    decided.flatMap(({ item, end, afterS }) => (end === 'waits' ? [{ ...item, afterS }] : [])),
  );
  const ended = decided.flatMap(({ end, ...settle }) => (end === 'waits' ? [] : [{ ...settle, end }]));
  const first = await endItems(
    tx,
    ended.map(({ item, end, reason }) => ({ ...item, end, reason })),
  );
  const settled = ended.filter(({ item }) => first.has(item.position));
  await saveReceipts(
    tx,
    settled.flatMap((settle) => settle.results.flatMap((result) => receiptOf(settle, result))),
  );
  await tellSenders(gateway, tx, settled);
}

function receiptOf({ item, transactionId }: SettleItem, result: TransactionResult): MessageReceipt[] {
  const type = receiptTypes[result.result];
  if (type === undefined) return [];
  const receipt: MessageReceipt = {
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
  };
  return [receipt];
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

/** Tells the sending agents, as inputs of the domain itself; a person reads it in the outbox. */
export async function tellSenders(gateway: Gateway, tx: Tx, news: readonly DeliveryNews[]): Promise<void> {
  if (news.length === 0) return;
  await appendAudits(tx, news.map(auditOf));
  const senders = await principalsByHome(
    tx,
    news.map(({ item }) => item.home),
  );
  const agents = new Map<string, Principal>(
    senders.flatMap((sender) => (sender.kind === 'agent' ? [[sender.home, sender]] : [])),
  );
  await acceptInputs(
    tx,
    news.flatMap((each) => {
      const sender = agents.get(each.item.home);
      return sender ? [inputFor(gateway, sender, each)] : [];
    }),
  );
}

function auditOf({ item, end, reason }: DeliveryNews): AuditEntry {
  return {
    home: item.home,
    actor: 'system:deliver-outbox',
    action: 'message.deliver',
    object: item.messageId,
    outcome: end,
    details: { peer: item.peer, attempt: item.attempt, ...(reason === null ? {} : { reason }) },
  };
}

function inputFor(gateway: Gateway, sender: Principal, news: DeliveryNews): AcceptInput {
  return {
    ingress: {
      tenant: sender.tenant,
      home: sender.home,
      source: `hearth://${gateway.domain.name}/delivery`,
      principal: `service://${gateway.domain.name}/gateway`,
      trustClass: 'trusted_fact',
      relationship: 'own',
    },
    input: newsInput(gateway, news),
    ids: mintOf(gateway),
  };
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
