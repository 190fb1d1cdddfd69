/**
 * Journey 4, outbound: an interaction begins as an effect. It is composed and signed over the heads it read, with no
 * transaction open; then one transaction writes effect, interaction, commitment transition, own copy and outbox row, if the
 * heads are still so. A crash before that commit leaves nothing; after it the outbox delivers, whatever happens here.
 */
import {
  type ActionProposal,
  conversationKey,
  linkSession,
  type PreparedEffect,
  subjectKey,
  type TransactionalEffectAdapter,
} from '../../foundation/index.js';
import { rememberConversation, storeMessage } from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import { type JsonValue, mintingDomainOf, parseInstant } from '../../protocol/index.js';
import { applyTransition } from '../commitment/index.js';
import { insertInteraction, moveHead, readProposal } from '../interaction/index.js';
import { queueItem } from '../outbox/index.js';
import { federationChannels, type Gateway } from '../parts.js';
import { type SealedInteraction, sealInteraction } from './seal-interaction.js';

/** Serves the actions `interaction.{type}`. */
export function interactionAdapter(gateway: Gateway): TransactionalEffectAdapter {
  return {
    kind: 'transactional',
    check(proposal) {
      const read = readProposal(proposal);
      return read.ok ? { ok: true } : { ok: false, reason: `${read.reason}: ${read.detail}` };
    },
    async prepare(proposal, effectId): Promise<PreparedEffect | { refused: string }> {
      const sealed = await sealInteraction(gateway, proposal);
      if (!sealed.ok) return { refused: sealed.reason };
      return {
        commit: (tx) => commitInteraction(gateway, tx, { proposal, effectId, sealed }),
        wake: [federationChannels.outbox],
      };
    },
  };
}

interface Committing {
  proposal: ActionProposal;
  effectId: string;
  sealed: SealedInteraction;
}

async function commitInteraction(
  gateway: Gateway,
  tx: Tx,
  committing: Committing,
): Promise<{ result: JsonValue } | 'stale' | { refused: string }> {
  const { sealed } = committing;
  const { header } = sealed.opened;
  const head = { home: sealed.sender.home, conversationId: header.conversation_id, destination: sealed.destination };
  if (!(await moveHead(tx, head, { from: header.prev, to: header.message_id }))) return 'stale';
  await keepOwnCopy(gateway, tx, sealed);
  if (!(await applyOwn(gateway, tx, sealed))) return 'stale';
  await record(tx, committing);
  await queueItem(tx, {
    peer: sealed.destination,
    home: sealed.sender.home,
    messageId: header.message_id,
    sender: header.sender,
    recipients: header.to,
    conversationId: header.conversation_id,
    effectId: committing.effectId,
    header: sealed.opened.headerBytes,
    signature: sealed.opened.wire.signature,
    body: sealed.body,
    expiresAt: parseInstant(header.expires_at) ?? gateway.clock.now(),
  });
  await linkToSession(tx, committing);
  return { result: resultOf(sealed) };
}

async function keepOwnCopy(gateway: Gateway, tx: Tx, { sender, opened, body }: SealedInteraction): Promise<void> {
  const { header } = opened;
  await storeMessage(tx, {
    home: sender.home,
    direction: 'out',
    originDomain: gateway.domain.name,
    sender: header.sender,
    messageId: header.message_id,
    conversationId: header.conversation_id,
    interactionType: header.interaction_type,
    contentType: header.content_type,
    header: opened.headerBytes,
    headerDigest: opened.headerDigest,
    body,
  });
  await rememberConversation(tx, {
    home: sender.home,
    conversationId: header.conversation_id,
    createdBy: header.sender,
    creatingDomain: mintingDomainOf(header.conversation_id) ?? gateway.domain.name,
    participants: [header.sender, ...header.to],
  });
}

/** False when the log has moved since it was read: what was signed may no longer follow from it. */
async function applyOwn(gateway: Gateway, tx: Tx, sealed: SealedInteraction): Promise<boolean> {
  const { sender, opened, body, certificate, transition } = sealed;
  if (!transition) return true;
  const carrier = { header: opened.headerBytes, signature: opened.wire.signature, body, certificate };
  const applied = await applyTransition(tx, { home: sender.home, transition, carrier, now: gateway.clock.now() });
  return applied.ok;
}

async function record(tx: Tx, { proposal, effectId, sealed }: Committing): Promise<void> {
  const { header } = sealed.opened;
  await insertInteraction(tx, {
    home: sealed.sender.home,
    messageId: header.message_id,
    direction: 'out',
    interactionType: sealed.interaction.type,
    sender: header.sender,
    recipients: header.to,
    conversationId: header.conversation_id,
    correlationId: header.correlation_id ?? null,
    // Kept here and never sent: which input of ours led to it is nobody else's business.
    causationId: proposal.run?.activationInputId ?? null,
    commitmentId: sealed.transition?.commitmentId ?? null,
    effectId,
    bodyDigest: header.body_digest,
    prev: header.prev,
    issuedAt: sealed.issuedAt,
  });
}

/** Answers in this conversation, and news of this commitment, lead back to the session that began them (D3). */
async function linkToSession(tx: Tx, { proposal, sealed }: Committing): Promise<void> {
  const sessionId = proposal.run?.sessionId;
  if (sessionId === undefined) return;
  const { home } = sealed.sender;
  await linkSession(tx, { home, key: conversationKey(sealed.opened.header.conversation_id), sessionId });
  if (sealed.transition) await linkSession(tx, { home, key: subjectKey(sealed.transition.commitmentId), sessionId });
}

function resultOf({ opened, transition, interaction }: SealedInteraction): JsonValue {
  const { header } = opened;
  return {
    message_id: header.message_id,
    conversation_id: header.conversation_id,
    ...(transition ? { commitment_id: transition.commitmentId } : {}),
    ...(interaction.type === 'request'
      ? { proposal_id: interaction.body.proposal.proposal_id, proposal_digest: header.body_digest }
      : {}),
  };
}
