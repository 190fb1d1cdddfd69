/**
 * Takes verified envelopes into their recipients' mailboxes: message, conversation, interaction, commitment transition,
 * input and receipt of all of them are one commit. The batch is the unit: what is known is read once, each delivery is
 * decided in order, and what is to be kept is written with one statement a table. What a receipt says is only that this
 * domain has it (D8).
 */
import { acceptInputs, appendAudits, noteFacts } from '../../foundation/index.js';
import {
  type Conversation,
  type DeliveryIdentity,
  type ExistingMessage,
  knownMessages,
  type Principal,
  readConversations,
  rememberConversations,
  storeNewMessages,
} from '../../home/index.js';
import type { Tx } from '../../platform/index.js';
import {
  type CommitmentTransition,
  type Id,
  type Interaction,
  isId,
  mintId,
  mintingDomainOf,
  type RefusalCode,
  type TransactionResult,
  transitionOf,
} from '../../protocol/index.js';
import { applyTransition } from '../commitment/index.js';
import { interactionIngress, interactionInput } from '../interaction/index.js';
import { mintOf } from '../parts.js';
import { saveReceipts } from '../receipt/index.js';
import type { AcceptGateway } from './accept-items.js';
import { auditOf, messageOf, observedFact, receiptOf } from './delivery-rows.js';
import type { VerifiedItem } from './verify-items.js';

/** One verified message for one recipient that may receive it now. */
export interface Delivery {
  item: VerifiedItem;
  interaction: Interaction;
  recipient: Principal;
  transactionId: string;
}

/** A delivery that is to be kept, with what it was given here. */
export type Kept = Delivery & { receiptId: Id<'rcpt'>; commitmentId: string | undefined };

export type Outcome = Pick<TransactionResult, 'result' | 'receipt_id' | 'after' | 'code'>;

/** Answers one outcome for each delivery, in their order. Throws when the database refuses any of it. */
export async function acceptBatch(gateway: AcceptGateway, tx: Tx, deliveries: readonly Delivery[]): Promise<Outcome[]> {
  const facts = await readFacts(tx, deliveries);
  const outcomes: Outcome[] = [];
  const kept: Kept[] = [];
  for (const [place, delivery] of deliveries.entries()) {
    const decided = await decide(gateway, tx, { delivery, known: facts.known.get(place), facts });
    if ('keep' in decided) kept.push(decided.keep);
    outcomes.push('keep' in decided ? { result: 'accepted', receipt_id: decided.keep.receiptId } : decided);
  }
  await keep(gateway, tx, { kept, joined: [...facts.joined.values()] });
  return outcomes;
}

/** What the batch is decided on; it grows with each delivery that is kept, so that the next one sees it. */
interface Facts {
  known: ReadonlyMap<number, ExistingMessage>;
  /** Deliveries kept by this batch, by identity: an exact repeat inside a batch is a repeat. */
  fresh: Map<string, Kept>;
  conversations: Map<string, Pick<Conversation, 'participants'>>;
  /** Conversations that are new or have new participants. */
  joined: Map<string, Joined>;
}

type Joined = Parameters<typeof rememberConversations>[1][number];

async function readFacts(tx: Tx, deliveries: readonly Delivery[]): Promise<Facts> {
  const known = await knownMessages(tx, deliveries.map(identityOf));
  const conversations = await readConversations(
    tx,
    deliveries.map(({ item, recipient }) => ({
      home: recipient.home,
      conversationId: item.envelope.header.conversation_id,
    })),
  );
  return {
    known,
    fresh: new Map(),
    conversations: new Map(conversations.map((each) => [`${each.home} ${each.conversationId}`, each])),
    joined: new Map(),
  };
}

function identityOf({ item, recipient }: Delivery): DeliveryIdentity {
  const { envelope } = item;
  return {
    home: recipient.home,
    direction: 'in',
    originDomain: envelope.origin,
    sender: envelope.sender,
    messageId: envelope.header.message_id,
  };
}

interface Deciding {
  delivery: Delivery;
  known: ExistingMessage | undefined;
  facts: Facts;
}

async function decide(
  gateway: AcceptGateway,
  tx: Tx,
  { delivery, known, facts }: Deciding,
): Promise<Outcome | { keep: Kept }> {
  const { item, recipient, interaction } = delivery;
  const { envelope } = item;
  const identity = `${recipient.home} ${envelope.sender} ${envelope.header.message_id}`;
  const first = known ?? sameInBatch(facts.fresh.get(identity));
  if (first) return repeatOf(first, envelope.headerDigest);
  const refusal = refusalToJoin(delivery, facts);
  if (refusal) return refused(refusal);
  const transition = transitionOf(envelope, interaction);
  if (transition) {
    const applied = await takeTransition(gateway, tx, { delivery, transition });
    if (!applied.ok) return refused(applied.reason);
  }
  join(delivery, facts);
  const receiptId = mintId('rcpt', recipient.home, mintOf(gateway));
  const keep: Kept = { ...delivery, receiptId, commitmentId: transition?.commitmentId };
  facts.fresh.set(identity, keep);
  return { keep };
}

const refused = (code: RefusalCode): Outcome => ({ result: 'rejected', code });

type First = Pick<ExistingMessage, 'headerDigest' | 'receiptId'>;

function sameInBatch(kept: Kept | undefined): First | undefined {
  return kept && { headerDigest: kept.item.envelope.headerDigest, receiptId: kept.receiptId };
}

function repeatOf({ headerDigest, receiptId }: First, digest: string): Outcome {
  if (headerDigest !== digest) return refused('message_id_reuse');
  return { result: 'duplicate', ...(receiptId !== null && isId('rcpt', receiptId) ? { receipt_id: receiptId } : {}) };
}

/**
 * The creator's domain owns a conversation (D3): a new one comes from the domain in its id, a known one is joined by who
 * takes part already or is brought in by the creator's domain.
 */
function refusalToJoin({ item, recipient }: Delivery, { conversations }: Facts): RefusalCode | undefined {
  const { envelope } = item;
  const conversationId = envelope.header.conversation_id;
  const creator = mintingDomainOf(conversationId);
  const known = conversations.get(`${recipient.home} ${conversationId}`);
  if (creator === undefined || (creator !== envelope.origin && !known)) return 'mint_foreign_domain';
  const member = creator === envelope.origin || known?.participants.includes(envelope.sender);
  return member ? undefined : 'conversation_not_member';
}

function join({ item, recipient }: Delivery, { conversations, joined }: Facts): void {
  const { envelope } = item;
  const conversationId = envelope.header.conversation_id;
  const key = `${recipient.home} ${conversationId}`;
  const before = conversations.get(key)?.participants;
  const participants = [...new Set([...(before ?? []), envelope.sender, ...envelope.header.to])];
  if (before && participants.length === before.length) return;
  conversations.set(key, { participants });
  joined.set(key, {
    home: recipient.home,
    conversationId,
    createdBy: joined.get(key)?.createdBy ?? envelope.sender,
    creatingDomain: mintingDomainOf(conversationId) ?? envelope.origin,
    participants,
  });
}

/** In a savepoint of its own: a refused transition leaves nothing behind. */
function takeTransition(
  gateway: AcceptGateway,
  tx: Tx,
  { delivery, transition }: { delivery: Delivery; transition: CommitmentTransition },
) {
  const { item, recipient } = delivery;
  const carrier = {
    header: item.envelope.headerBytes,
    signature: item.envelope.wire.signature,
    body: item.envelope.body,
    certificate: item.certificate,
  };
  return tx.savepoint((inner) =>
    applyTransition(inner, { holder: recipient, transition, carrier, ids: mintOf(gateway) }),
  );
}

/** Inputs first, because a message names the one it became; then one statement a table, sent at once. */
async function keep(
  gateway: AcceptGateway,
  tx: Tx,
  { kept, joined }: { kept: Kept[]; joined: Joined[] },
): Promise<void> {
  if (kept.length === 0) return;
  const inputIds = await acceptAll(gateway, tx, kept);
  await Promise.all([
    storeNewMessages(
      tx,
      kept.map((each) => ({ ...messageOf(each), ...identityOf(each), inputId: inputIds.get(each) })),
    ),
    rememberConversations(tx, joined),
    saveReceipts(
      tx,
      kept.map((each) => receiptOf(each, gateway.domain.name)),
    ),
    appendAudits(tx, kept.map(auditOf)),
    noteObserved(gateway, tx, kept),
  ]);
}

/** F25: that a message has come is told to whoever waits for it, without what it says. */
async function noteObserved(gateway: AcceptGateway, tx: Tx, kept: readonly Kept[]): Promise<void> {
  for (const tenant of new Set(kept.map(({ recipient }) => recipient.tenant))) {
    const own = kept.filter(({ recipient }) => recipient.tenant === tenant);
    await noteFacts(
      tx,
      own.map((each) => ({ ...observedFact(each), ids: mintOf(gateway) })),
    );
  }
}

/** Only agents act on inputs; a person reads the mailbox. */
async function acceptAll(gateway: AcceptGateway, tx: Tx, kept: readonly Kept[]): Promise<ReadonlyMap<Kept, string>> {
  const forAgents = kept.filter(({ recipient }) => recipient.kind === 'agent');
  const accepted = await acceptInputs(
    tx,
    forAgents.map((each) => {
      const received = { ...each, envelope: each.item.envelope };
      return { ingress: interactionIngress(received), input: interactionInput(received), ids: mintOf(gateway) };
    }),
  );
  return new Map(
    forAgents.flatMap((each, index) => {
      const inputId = accepted[index]?.inputId;
      return inputId === undefined ? [] : [[each, inputId] as const];
    }),
  );
}
