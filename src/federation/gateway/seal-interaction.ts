// Composes and signs an interaction over what it read, with no transaction open; refuses what could never be delivered.
import type { ActionProposal } from '../../foundation/index.js';
import { type Conversation, type Principal, receives } from '../../home/index.js';
import {
  type Address,
  type CommitmentTransition,
  type ConversationId,
  type Domain,
  encodeInteraction,
  formatInstant,
  type Id,
  INTERACTION_MEDIA_TYPE,
  type Interaction,
  LIMITS,
  mintDomainId,
  mintId,
  mintingDomainOf,
  type OpenedEnvelope,
  openEnvelope,
  Problem,
  parseAddress,
  parseKeyRef,
  type Refusal,
  refuse,
  sealEnvelope,
  transitionOf,
} from '../../protocol/index.js';
import { admitLocally, type Commitment } from '../commitment/index.js';
import {
  commitmentOf,
  composeInteraction,
  defaultLifetimeS,
  isConversation,
  type ProposedInteraction,
  readProposal,
} from '../interaction/index.js';
import { type Gateway, mintOf } from '../parts.js';
import { commitmentKey, headKey, type Readable, readSealFacts, type SealFacts } from './seal-facts.js';

/** An interaction signed and ready to be committed, if what it was signed over still stands. */
export interface SealedInteraction {
  ok: true;
  sender: Principal;
  destination: Domain;
  interaction: Interaction;
  opened: OpenedEnvelope;
  body: Uint8Array;
  transition: CommitmentTransition | undefined;
  certificate: string;
  /** The conversation as it was known before. */
  known: Conversation | undefined;
}

export async function sealInteraction(
  gateway: Gateway,
  proposal: ActionProposal,
): Promise<SealedInteraction | Refusal<string>> {
  const [sealed] = await sealInteractions(gateway, [proposal]);
  if (!sealed) throw new Error('an interaction was neither sealed nor refused');
  return sealed;
}

/** Several over one reading; a later one of a conversation follows the earlier one, as if that were committed. */
export async function sealInteractions(
  gateway: Gateway,
  proposals: readonly ActionProposal[],
): Promise<(SealedInteraction | Refusal<string>)[]> {
  const read = proposals.map((proposal) => ({ proposal, read: readProposal(proposal) }));
  const readable = read.flatMap(({ proposal, read }) => (read.ok ? [{ proposal, proposed: read.proposed }] : []));
  const facts = await readSealFacts(gateway, readable);
  const sealed: (SealedInteraction | Refusal<string>)[] = [];
  for (const { proposal, read: each } of read) {
    sealed.push(each.ok ? await sealOne(gateway, facts, { proposal, proposed: each.proposed }) : each);
  }
  return sealed;
}

async function sealOne(
  gateway: Gateway,
  facts: SealFacts,
  { proposal, proposed }: Readable,
): Promise<SealedInteraction | Refusal<string>> {
  const sender = facts.senders.get(proposal.actor.home);
  if (!sender || !receives(sender)) return refuse('sender_unavailable', 'the sender is not in use');
  const destination = destinationOf(facts, proposed.recipient);
  if (typeof destination !== 'string') return destination;
  const commitment = facts.commitments.get(commitmentKey(sender.home, commitmentOf(proposed)));
  const minted = {
    proposalId: mintId('prop', sender.home, mintOf(gateway)),
    commitmentId: mintFor(gateway, 'cmt', sender),
  };
  const composed = composeInteraction(proposed, {
    author: sender.address,
    view: commitment?.view,
    minted,
    now: gateway.clock.now(),
  });
  if (!composed.ok) return composed;
  const conversation = conversationFor(gateway, { proposal, proposed, sender, commitment, facts });
  if (typeof conversation !== 'string') return conversation;
  const sealed = await sign(gateway, {
    sender,
    destination,
    proposed,
    interaction: composed.interaction,
    conversation,
    facts,
  });
  if (!sealed.ok || !sealed.transition) return sealed;
  const admission = admitLocally(commitment, sealed.transition, gateway.clock.now());
  return admission.ok ? sealed : admission;
}

/** Delivery goes to pinned domains only; whether the peer can be reached now does not matter. */
function destinationOf({ relationships }: SealFacts, recipient: Address): Domain | Refusal<string> {
  const domain = parseAddress(recipient)?.domain;
  if (domain === undefined) return refuse('proposal_invalid', 'the recipient has no domain');
  const relationship = relationships.get(domain);
  if (relationship === 'blocked') return refuse('peer_blocked', `${domain} is blocked`);
  if (relationship !== 'pinned') return refuse('peer_unknown', `${domain} is not pinned by its fingerprint`);
  return domain;
}

interface Choosing extends Readable {
  sender: Principal;
  commitment: Commitment | undefined;
  facts: SealFacts;
}

/** A commitment's own conversation, the one named, the run's if the recipient is in it, or a new one. */
function conversationFor(gateway: Gateway, choosing: Choosing): ConversationId | Refusal<string> {
  const { proposal, proposed, sender, commitment, facts } = choosing;
  if (commitment) return commitment.view.conversationId;
  const named = proposed.input.conversation_id;
  if (named !== undefined) {
    const known = facts.conversations.get(`${sender.home} ${named}`);
    if (!known) return refuse('conversation_unknown', `${named} is not a conversation of the sender`);
    const member = known.participants.includes(proposed.recipient) || mintingDomainOf(named) === gateway.domain.name;
    return member ? named : refuse('conversation_not_member', 'only the creating domain brings somebody in');
  }
  const ofRun = proposal.run?.conversationId;
  if (isConversation(ofRun)) {
    const known = facts.conversations.get(`${sender.home} ${ofRun}`);
    if (known?.participants.includes(proposed.recipient)) return ofRun;
  }
  return mintFor(gateway, 'conv', sender);
}

function mintFor<Kind extends 'conv' | 'cmt'>(gateway: Gateway, kind: Kind, sender: Principal): Id<Kind> {
  return mintDomainId(kind, { ...mintOf(gateway), domain: gateway.domain.name, homeTag: sender.home });
}

interface Signing {
  sender: Principal;
  destination: Domain;
  proposed: ProposedInteraction;
  interaction: Interaction;
  conversation: ConversationId;
  facts: SealFacts;
}

async function sign(gateway: Gateway, signing: Signing): Promise<SealedInteraction | Refusal<string>> {
  const { sender, destination, proposed, interaction, conversation, facts } = signing;
  const key = facts.keys.get(sender.home);
  const certificate = facts.certificates.get(sender.home);
  const keyRef = key && parseKeyRef(key.keyRef)?.keyRef;
  if (!key || keyRef === undefined || certificate === undefined) {
    return refuse('key_unavailable', 'the sender has no key that may sign');
  }
  const body = encodeOrRefuse(interaction);
  if ('reason' in body) return body;
  if (body.byteLength > LIMITS.inlineBodyBytes) {
    return refuse('body_too_large', `a body has at most ${LIMITS.inlineBodyBytes} bytes`);
  }
  const head = headKey({ home: sender.home, conversationId: conversation, destination });
  const issuedAt = gateway.clock.now();
  const { in_reply_to, correlation_id, expires_in_s } = proposed.input;
  const wire = await sealEnvelope(
    {
      message_id: mintId('msg', sender.home, mintOf(gateway)),
      sender: sender.address,
      to: [proposed.recipient],
      conversation_id: conversation,
      prev: facts.heads.get(head) ?? '',
      interaction_type: interaction.type,
      ...(in_reply_to === undefined ? {} : { in_reply_to }),
      ...(correlation_id === undefined ? {} : { correlation_id }),
      issued_at: formatInstant(issuedAt),
      expires_at: formatInstant(new Date(issuedAt.getTime() + (expires_in_s ?? defaultLifetimeS) * 1000)),
      content_type: INTERACTION_MEDIA_TYPE,
      key_id: keyRef,
    },
    body,
    (bytes) => gateway.custody.sign(key, bytes),
  );
  const opened = openEnvelope(wire);
  if (!opened.ok) throw new Error(`an envelope of our own cannot be opened: ${opened.detail}`);
  facts.heads.set(head, opened.header.message_id);
  const transition = transitionOf({ ...opened, senderPrincipalId: sender.principalId }, interaction);
  const known = facts.conversations.get(`${sender.home} ${conversation}`);
  return { ok: true, sender, destination, interaction, opened, body, transition, certificate, known };
}

function encodeOrRefuse(interaction: Interaction): Uint8Array | Refusal<'proposal_invalid'> {
  try {
    return encodeInteraction(interaction);
  } catch (error) {
    if (error instanceof Problem) return refuse('proposal_invalid', error.detail);
    throw error;
  }
}
