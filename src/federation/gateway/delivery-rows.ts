// What a kept delivery leaves in each table. Pure.
import type { AuditEntry, Fact } from '../../foundation/index.js';
import type { NewMessage } from '../../home/index.js';
import type { Domain } from '../../protocol/index.js';
import type { MessageReceipt } from '../receipt/index.js';
import type { Kept } from './accept-batch.js';

export function messageOf({ item, receiptId }: Kept): Omit<NewMessage, keyof IdentityMembers> {
  const { header, headerBytes, headerDigest, body } = item.envelope;
  return {
    conversationId: header.conversation_id,
    interactionType: header.interaction_type,
    contentType: header.content_type,
    header: headerBytes,
    headerDigest,
    body,
    receiptId,
  };
}

type IdentityMembers = Pick<NewMessage, 'home' | 'direction' | 'originDomain' | 'sender' | 'messageId'>;

export function receiptOf({ item, recipient, receiptId, transactionId }: Kept, issuer: Domain): MessageReceipt {
  const { header, headerDigest, origin } = item.envelope;
  return {
    home: recipient.home,
    receiptId,
    direction: 'issued',
    type: 'delivery.accepted',
    issuer,
    subjectRef: header.message_id,
    subjectDigest: headerDigest,
    recipient: recipient.address,
    peer: origin,
    transactionId,
  };
}

export function observedFact({ item, recipient }: Kept): Omit<Fact, 'ids'> {
  const { header, sender, senderPrincipalId } = item.envelope;
  const { message_id, conversation_id, interaction_type } = header;
  return {
    home: recipient.home,
    tenant: recipient.tenant,
    type: 'message.observed',
    subject: `message:${message_id}`,
    // The sender is part of it: another's message id must suppress nothing (D5).
    key: `${senderPrincipalId}/${message_id}`,
    data: { message_id, conversation_id, interaction_type, sender, recipient: recipient.address },
  };
}

export function auditOf({ item, recipient, interaction, transactionId }: Kept): AuditEntry {
  const { header, sender, origin } = item.envelope;
  return {
    home: recipient.home,
    actor: sender,
    action: 'message.accept',
    object: header.message_id,
    outcome: 'accepted',
    details: { origin, transaction_id: transactionId, interaction_type: interaction.type },
  };
}
