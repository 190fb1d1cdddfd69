/**
 * A received interaction as the Foundation sees it. What the peer wrote is one member, untrusted; what the gateway proved
 * (sender, ids, digests) stands beside it, so that nobody has to look for it inside.
 */
import type { AgentInput, Ingress } from '../../foundation/index.js';
import type { Principal } from '../../home/index.js';
import { type Interaction, type JsonValue, parseAddress, type VerifiedEnvelope } from '../../protocol/index.js';

/** What tells of something done or decided elsewhere; everything else asks the recipient for something. */
const eventTypes: readonly string[] = ['accept', 'reject', 'commit', 'approve', 'revoke', 'resolve'];

export interface ReceivedInteraction {
  envelope: VerifiedEnvelope;
  interaction: Interaction;
  recipient: Principal;
  commitmentId: string | undefined;
}

export function interactionIngress({ envelope, recipient }: ReceivedInteraction): Ingress {
  return {
    tenant: recipient.tenant,
    home: recipient.home,
    source: `hearth://${envelope.origin}/federation`,
    principal: envelope.sender,
    trustClass: 'untrusted_content',
    // What comes from elsewhere has been admitted: its domain is pinned, or somebody let it in.
    relationship: parseAddress(recipient.address)?.domain === envelope.origin ? 'own' : 'known',
  };
}

export function interactionInput(received: ReceivedInteraction): AgentInput {
  const { envelope, interaction, recipient, commitmentId } = received;
  const { header } = envelope;
  return {
    kind: eventTypes.includes(interaction.type) ? 'event' : 'command',
    type: `interaction.${interaction.type}`,
    // The sender is part of it: another's message id must suppress nothing (D5).
    source_event_id: `${envelope.senderPrincipalId}/${header.message_id}`,
    ...(commitmentId === undefined ? {} : { subject: { resource: commitmentId } }),
    target: { agent: recipient.address, conversation_id: header.conversation_id },
    occurred_at: header.issued_at,
    causation_id: header.message_id,
    data_content_type: header.content_type,
    data: {
      message_id: header.message_id,
      sender: envelope.sender,
      sender_domain: envelope.origin,
      sender_principal_id: envelope.senderPrincipalId,
      conversation_id: header.conversation_id,
      interaction_type: interaction.type,
      header_digest: envelope.headerDigest,
      body_digest: header.body_digest,
      prev: header.prev,
      ...(commitmentId === undefined ? {} : { commitment_id: commitmentId }),
      // As data only: a correlation id leads to a session, and a peer must not find its way into one by naming it.
      ...(header.correlation_id === undefined ? {} : { correlation_id: header.correlation_id }),
      ...(header.in_reply_to === undefined ? {} : { in_reply_to: header.in_reply_to }),
      body: plain(interaction.body),
    },
  };
}

/** The parsed body as plain JSON, absent members left out. */
function plain(body: Interaction['body']): JsonValue {
  return JSON.parse(JSON.stringify(body));
}
