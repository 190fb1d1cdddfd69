/**
 * Takes one verified envelope into one recipient's mailbox: message, conversation, interaction, commitment transition,
 * input and receipt are one commit, or none of them is. What a receipt says is only that this domain has it (D8).
 */
import { acceptInput, appendAudit } from '../../foundation/index.js';
import {
  linkMessageInput,
  type Principal,
  readConversation,
  receives,
  rememberConversation,
  storeMessage,
} from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import {
  type Address,
  type CommitmentTransition,
  type Interaction,
  isId,
  mintId,
  mintingDomainOf,
  parseInstant,
  type RefusalCode,
  type TransactionResult,
  transitionOf,
} from '../../protocol/index.js';
import { applyTransition } from '../commitment/index.js';
import { insertInteraction, interactionIngress, interactionInput } from '../interaction/index.js';
import { type Gateway, mintOf } from '../parts.js';
import { saveReceipt } from '../receipt/index.js';
import type { VerifiedItem } from './verify-items.js';

/** Refuses one item for one recipient; thrown inside its savepoint, so that nothing of it stays. */
export class ItemRefused extends Error {
  override readonly name = 'ItemRefused';
  readonly reason: RefusalCode;

  constructor(reason: RefusalCode) {
    super(reason);
    this.reason = reason;
  }
}

export interface AcceptItem {
  item: VerifiedItem;
  address: Address;
  /** Undefined for an address that nobody here has. */
  recipient: Principal | undefined;
  transactionId: string;
}

type Outcome = Pick<TransactionResult, 'result' | 'receipt_id' | 'after'>;

export async function acceptItem(gateway: Gateway, tx: Tx, accept: AcceptItem): Promise<Outcome> {
  const { item, recipient } = accept;
  // One code for the unknown and the ended: the answer tells nobody who exists.
  if (!recipient || !receives(recipient)) throw new ItemRefused('recipient_unavailable');
  if (recipient.status === 'migrating') return { result: 'retry', after: migratingRetryS };
  if (!item.interaction.ok) throw new ItemRefused(item.interaction.reason);
  return storeItem(gateway, tx, { ...accept, recipient, interaction: item.interaction.interaction });
}

const migratingRetryS = 60;

type Known = AcceptItem & { recipient: Principal; interaction: Interaction };

async function storeItem(gateway: Gateway, tx: Tx, known: Known): Promise<Outcome> {
  const { item, recipient } = known;
  const { envelope } = item;
  const { header } = envelope;
  const mint = mintOf(gateway);
  const receiptId = mintId('rcpt', recipient.home, mint);
  const stored = await storeMessage(tx, {
    home: recipient.home,
    direction: 'in',
    originDomain: envelope.origin,
    sender: envelope.sender,
    messageId: header.message_id,
    conversationId: header.conversation_id,
    interactionType: header.interaction_type,
    contentType: header.content_type,
    header: envelope.headerBytes,
    headerDigest: envelope.headerDigest,
    body: envelope.body,
    receiptId,
  });
  if (!stored.stored) {
    const { headerDigest, receiptId: first } = stored.existing;
    if (headerDigest !== envelope.headerDigest) throw new ItemRefused('message_id_reuse');
    return { result: 'duplicate', ...receiptOf(first) };
  }
  await joinConversation(tx, known);
  const transition = transitionOf(envelope, known.interaction);
  if (transition) await takeTransition(gateway, tx, { known, transition });
  await recordItem(gateway, tx, { known, commitmentId: transition?.commitmentId, position: stored.position });
  await saveReceipt(tx, {
    home: recipient.home,
    receiptId,
    direction: 'issued',
    type: 'delivery.accepted',
    issuer: gateway.domain.name,
    subjectRef: header.message_id,
    subjectDigest: envelope.headerDigest,
    recipient: recipient.address,
    peer: envelope.origin,
    transactionId: known.transactionId,
  });
  return { result: 'accepted', receipt_id: receiptId };
}

function receiptOf(receiptId: string | null): Pick<Outcome, 'receipt_id'> {
  return receiptId !== null && isId('rcpt', receiptId) ? { receipt_id: receiptId } : {};
}

/**
 * The creator's domain owns a conversation (D3): a new one comes from the domain in its id, a known one is joined by who
 * takes part already or is brought in by the creator's domain.
 */
async function joinConversation(tx: Tx, { item, recipient }: Known): Promise<void> {
  const { envelope } = item;
  const conversationId = envelope.header.conversation_id;
  const creator = mintingDomainOf(conversationId);
  const known = await readConversation(tx, recipient.home, conversationId);
  if (creator === undefined || (creator !== envelope.origin && !known)) throw new ItemRefused('mint_foreign_domain');
  if (known && creator !== envelope.origin && !known.participants.includes(envelope.sender)) {
    throw new ItemRefused('conversation_not_member');
  }
  await rememberConversation(tx, {
    home: recipient.home,
    conversationId,
    createdBy: envelope.sender,
    creatingDomain: creator,
    participants: [envelope.sender, ...envelope.header.to],
  });
}

async function takeTransition(
  gateway: Gateway,
  tx: Tx,
  { known, transition }: { known: Known; transition: CommitmentTransition },
): Promise<void> {
  const { item, recipient } = known;
  const applied = await applyTransition(tx, {
    home: recipient.home,
    transition,
    carrier: {
      header: item.envelope.headerBytes,
      signature: item.envelope.wire.signature,
      body: item.envelope.body,
      certificate: item.certificate,
    },
    now: gateway.clock.now(),
  });
  if (!applied.ok) throw new ItemRefused(applied.reason);
}

type Recorded = { known: Known; commitmentId: string | undefined; position: number };

async function recordItem(gateway: Gateway, tx: Tx, { known, commitmentId, position }: Recorded): Promise<void> {
  const { item, recipient, interaction } = known;
  const { envelope } = item;
  const { header } = envelope;
  await insertInteraction(tx, {
    home: recipient.home,
    messageId: header.message_id,
    direction: 'in',
    interactionType: interaction.type,
    sender: envelope.sender,
    recipients: header.to,
    conversationId: header.conversation_id,
    correlationId: header.correlation_id ?? null,
    causationId: header.causation_id ?? null,
    commitmentId: commitmentId ?? null,
    effectId: null,
    bodyDigest: header.body_digest,
    prev: header.prev,
    issuedAt: parseInstant(header.issued_at) ?? gateway.clock.now(),
  });
  // Only agents act on inputs; a person reads the mailbox.
  if (recipient.kind === 'agent') {
    const received = { envelope, interaction, recipient, commitmentId };
    const { inputId } = await acceptInput(tx, {
      ingress: interactionIngress(received),
      input: interactionInput(received),
      ids: mintOf(gateway),
    });
    await linkMessageInput(tx, { home: recipient.home, position, inputId });
  }
  await appendAudit(tx, {
    home: recipient.home,
    actor: envelope.sender,
    action: 'message.accept',
    object: header.message_id,
    outcome: 'accepted',
    details: { origin: envelope.origin, transaction_id: known.transactionId, interaction_type: interaction.type },
  });
}
