// What interactions are composed and signed over: read once for all that are sealed together, with no transaction open.
import type { ActionProposal } from '../../foundation/index.js';
import {
  type Conversation,
  currentPrincipalKeys,
  type Principal,
  type PrincipalKey,
  principalsByHome,
  readConversations,
} from '../../home/index.js';
import { type CommitmentId, type Domain, type MessageId, parseAddress } from '../../protocol/index.js';
import { type Commitment, readCommitment } from '../commitment/index.js';
import {
  type ConversationHead,
  commitmentOf,
  isConversation,
  type ProposedInteraction,
  readHeads,
} from '../interaction/index.js';
import type { Gateway } from '../parts.js';
import { type Peer, readPeer } from '../peer/index.js';

/** A proposal beside what was read in it. */
export interface Readable {
  proposal: ActionProposal;
  proposed: ProposedInteraction;
}

export interface SealFacts {
  /** Senders, their keys and the certificates of these, by home. */
  senders: ReadonlyMap<string, Principal>;
  keys: ReadonlyMap<string, PrincipalKey>;
  certificates: ReadonlyMap<string, string>;
  relationships: ReadonlyMap<Domain, Peer['relationship']>;
  commitments: ReadonlyMap<string, Commitment>;
  /** By home and conversation. */
  conversations: ReadonlyMap<string, Conversation>;
  /** By `headKey`; moved on with each interaction that is sealed. */
  heads: Map<string, MessageId | ''>;
}

export function headKey({ home, conversationId, destination }: ConversationHead): string {
  return `${home} ${conversationId} ${destination}`;
}

export function commitmentKey(home: string, commitmentId: CommitmentId | undefined): string {
  return `${home} ${commitmentId ?? ''}`;
}

export async function readSealFacts(gateway: Gateway, readable: readonly Readable[]): Promise<SealFacts> {
  const { sql } = gateway.db;
  const homes = readable.map(({ proposal }) => proposal.actor.home);
  const senders = await principalsByHome(sql, homes);
  const keys = await currentPrincipalKeys(sql, homes);
  const commitments = await readCommitments(gateway, readable);
  const places = readable.flatMap((each) => placesOf(each, commitments));
  const conversations = await readConversations(sql, places);
  const heads = places.length === 0 ? [] : await readHeads(sql, places);
  return {
    senders: new Map(senders.map((sender) => [sender.home, sender])),
    keys: new Map(keys.map((key) => [key.home, key])),
    certificates: await gateway.certifier.agentKeyCertificates(senders),
    relationships: await readRelationships(gateway, readable),
    commitments,
    conversations: new Map(conversations.map((each) => [`${each.home} ${each.conversationId}`, each])),
    heads: new Map(heads.map((head) => [headKey(head), head.lastMessageId])),
  };
}

async function readCommitments(gateway: Gateway, readable: readonly Readable[]): Promise<Map<string, Commitment>> {
  const commitments = new Map<string, Commitment>();
  for (const { proposal, proposed } of readable) {
    const commitmentId = commitmentOf(proposed);
    if (commitmentId === undefined) continue;
    const { home } = proposal.actor;
    const found = await readCommitment(gateway.db.sql, { home, commitmentId, now: gateway.clock.now() });
    if (found) commitments.set(commitmentKey(home, commitmentId), found);
  }
  return commitments;
}

/** Every conversation that one of these may be said in, other than a new one. */
function placesOf({ proposal, proposed }: Readable, commitments: ReadonlyMap<string, Commitment>): ConversationHead[] {
  const { home } = proposal.actor;
  const destination = parseAddress(proposed.recipient)?.domain;
  if (destination === undefined) return [];
  const commitment = commitments.get(commitmentKey(home, commitmentOf(proposed)));
  const ofRun = proposal.run?.conversationId;
  const named = [
    commitment?.view.conversationId,
    proposed.input.conversation_id,
    isConversation(ofRun) ? ofRun : undefined,
  ];
  return named.flatMap((conversationId) =>
    conversationId === undefined ? [] : [{ home, conversationId, destination }],
  );
}

async function readRelationships(
  gateway: Gateway,
  readable: readonly Readable[],
): Promise<Map<Domain, Peer['relationship']>> {
  const relationships = new Map<Domain, Peer['relationship']>();
  const domains = readable.map(({ proposed }) => parseAddress(proposed.recipient)?.domain);
  for (const domain of new Set(domains)) {
    const peer = domain === undefined ? undefined : await readPeer(gateway.db.sql, domain);
    if (peer) relationships.set(peer.domain, peer.relationship);
  }
  return relationships;
}
