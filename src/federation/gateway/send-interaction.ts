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
import {
  lockMailboxes,
  type NewMessage,
  type RememberConversation,
  rememberConversations,
  storeNewMessages,
} from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import { type JsonValue, mintingDomainOf, parseInstant } from '../../protocol/index.js';
import { applyTransition } from '../commitment/index.js';
import { type ConversationHead, moveHeads, readProposal } from '../interaction/index.js';
import { type QueueItem, queueItems } from '../outbox/index.js';
import { federationChannels, type Gateway, mintOf } from '../parts.js';
import { headKey } from './seal-facts.js';
import { type SealedInteraction, sealInteraction, sealInteractions } from './seal-interaction.js';

interface PreparedInteraction extends PreparedEffect {
  sending: Sending;
}

/** Serves the actions `interaction.{type}`. */
export function interactionAdapter(gateway: Gateway): TransactionalEffectAdapter<PreparedInteraction> {
  const prepared = (sending: Sending): PreparedInteraction => ({
    sending,
    commit: async (tx) => {
      const [done] = await commitInteractions(gateway, tx, [sending]);
      return done ? { result: resultOf(sending.sealed) } : 'stale';
    },
    wake: [federationChannels.outbox],
  });
  return {
    kind: 'transactional',
    check(proposal) {
      const read = readProposal(proposal);
      return read.ok ? { ok: true } : { ok: false, reason: `${read.reason}: ${read.detail}` };
    },
    async prepare(proposal, effectId) {
      const sealed = await sealInteraction(gateway, proposal);
      return sealed.ok ? prepared({ proposal, effectId, sealed }) : { refused: sealed.reason };
    },
    together: {
      async prepare(asked) {
        const sealed = await sealInteractions(
          gateway,
          asked.map(({ proposal }) => proposal),
        );
        return asked.map((each, index) => {
          const own = sealed[index];
          // What moves a promise is committed alone: its log has to be read again under a lock.
          return own?.ok && !own.transition ? prepared({ ...each, sealed: own }) : undefined;
        });
      },
      async commit(tx, all) {
        const sendings = all.map(({ sending }) => sending);
        const done = await commitInteractions(gateway, tx, sendings);
        return sendings.map(({ sealed }, index) => (done[index] ? { result: resultOf(sealed) } : undefined));
      },
    },
  };
}

interface Sending {
  proposal: ActionProposal;
  effectId: string;
  sealed: SealedInteraction;
}

/**
 * Which of these could be written, in their order. Those whose heads have moved are left out, untouched; one that moves a
 * promise comes alone, and the caller takes back what it has written when the promise's log has moved.
 */
async function commitInteractions(gateway: Gateway, tx: Tx, sendings: readonly Sending[]): Promise<boolean[]> {
  const moved = await moveHeadsOf(tx, sendings);
  const open = sendings.filter((sending) => moved.has(sending));
  await keepOwnCopies(gateway, tx, open);
  for (const { sealed } of open) {
    if (!(await applyOwn(gateway, tx, sealed))) return sendings.map(() => false);
  }
  await queueItems(
    tx,
    open.map((sending) => queueItemOf(gateway, sending)),
  );
  for (const sending of open) await linkToSession(tx, sending);
  return sendings.map((sending) => moved.has(sending));
}

/** Several of one conversation move its head over all of them, as far as each follows the one before. */
async function moveHeadsOf(tx: Tx, sendings: readonly Sending[]): Promise<Set<Sending>> {
  const chains = new Map<string, { head: ConversationHead; sendings: Sending[] }>();
  for (const sending of sendings) {
    const { sender, destination, opened } = sending.sealed;
    const head = { home: sender.home, conversationId: opened.header.conversation_id, destination };
    const chain = chains.get(headKey(head)) ?? { head, sendings: [] };
    const last = chain.sendings.at(-1)?.sealed.opened.header.message_id;
    if (last === undefined || last === opened.header.prev) chain.sendings.push(sending);
    chains.set(headKey(head), chain);
  }
  const moves = [...chains.values()].map(({ head, sendings: chained }) => ({
    ...head,
    from: chained[0]?.sealed.opened.header.prev ?? '',
    to: chained.at(-1)?.sealed.opened.header.message_id ?? '',
    chained,
  }));
  const moved = await moveHeads(tx, moves);
  return new Set(moves.flatMap(({ to, chained }) => (moved.has(to) ? chained : [])));
}

async function keepOwnCopies(gateway: Gateway, tx: Tx, sendings: readonly Sending[]): Promise<void> {
  const messages = sendings.map(({ sealed }) => ownCopyOf(gateway, sealed));
  // Their ids were minted for them: none can be known.
  await lockMailboxes(
    tx,
    messages.map(({ home }) => home),
  );
  await storeNewMessages(tx, messages);
  await rememberConversations(
    tx,
    sendings.flatMap(({ sealed }) => joinedBy(gateway, sealed)),
  );
}

function ownCopyOf(gateway: Gateway, { sender, opened, body }: SealedInteraction): NewMessage {
  const { header } = opened;
  return {
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
  };
}

/** Nothing for a conversation that was known with everybody in it: participants are only ever added. */
function joinedBy(gateway: Gateway, { sender, opened, known }: SealedInteraction): RememberConversation[] {
  const { header } = opened;
  const participants = [header.sender, ...header.to];
  if (known && participants.every((each) => known.participants.includes(each))) return [];
  return [
    {
      home: sender.home,
      conversationId: header.conversation_id,
      createdBy: header.sender,
      creatingDomain: mintingDomainOf(header.conversation_id) ?? gateway.domain.name,
      participants,
    },
  ];
}

/** False when the log has moved since it was read: what was signed may no longer follow from it. */
async function applyOwn(gateway: Gateway, tx: Tx, sealed: SealedInteraction): Promise<boolean> {
  const { sender, opened, body, certificate, transition } = sealed;
  if (!transition) return true;
  const carrier = { header: opened.headerBytes, signature: opened.wire.signature, body, certificate };
  const applied = await applyTransition(tx, { holder: sender, transition, carrier, ids: mintOf(gateway) });
  return applied.ok;
}

function queueItemOf(gateway: Gateway, { effectId, sealed }: Sending): QueueItem {
  const { header } = sealed.opened;
  return {
    peer: sealed.destination,
    home: sealed.sender.home,
    messageId: header.message_id,
    sender: header.sender,
    recipients: header.to,
    conversationId: header.conversation_id,
    effectId,
    header: sealed.opened.headerBytes,
    signature: sealed.opened.wire.signature,
    body: sealed.body,
    expiresAt: parseInstant(header.expires_at) ?? gateway.clock.now(),
  };
}

/** Answers in this conversation, and news of this commitment, lead back to the session that began them (D3). */
async function linkToSession(tx: Tx, { proposal, sealed }: Sending): Promise<void> {
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
