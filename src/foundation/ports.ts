/**
 * What the Foundation needs from whoever embeds it. `home` and `federation` plug in here at the composition root; an
 * embedder without homes or peers plugs in its own. Nothing in this file knows of addresses, domains or envelopes.
 */

import type { Sql, Tx } from '../platform/index.js';
import type { JsonObject, JsonValue } from '../protocol/index.js';
import type { ActionProposal, EffectOutcome, EffectRecord } from './effect/effect-record.js';

/** What an agent may do: an action and a target, each exact or ending in `*` (prefix). Absent means denied. */
export interface CapabilityGrant {
  action: string;
  target: string;
}

/** How an agent's attention treats an event that finds its session active. */
export type WhenActive = 'enqueue' | 'steer' | 'fork' | 'project';

/**
 * In which order a session's queue is worked off: as it came, or by class, where what ingress calls urgent comes before the
 * normal and the bulk, and within these a control before a command before an event.
 */
export type LaneOrder = 'arrival' | 'priority';

export interface AttentionSettings {
  whenActive: WhenActive;
  /** Default: arrival. */
  laneOrder?: LaneOrder;
  /** How long a queued event waits for others of its type and subject to be merged with it; 0, the default, merges nothing. */
  mergeWindowMs?: number;
  /** What becomes of untrusted content from a stranger that the agent listens to. Default: wake. */
  strangers?: 'wake' | 'project' | 'ignore';
  /** An event that happened longer ago is projected; timers are not judged by this. Default: never stale. */
  staleAfterMs?: number;
  /** As many events may wake it in a window; what comes then is projected, unless it is urgent. Default: any number. */
  budget?: { wakes: number; windowMs: number };
  /** An event whose key waits in its lane, or was taken within this time, is ignored. Default: none is a duplicate. */
  duplicateWindowMs?: number;
  /** An event that is too late within this time is urgent. Default: only what ingress or the subscription calls urgent is. */
  urgentWithinMs?: number;
  /** An event whose weights come to less is projected. Default: everything is worth it. */
  leastWorth?: number;
}

export interface AgentDefinition {
  home: string;
  /** Stable public id of the agent; its domain-qualified address when homes are plugged in. */
  agent: string;
  tenant: string;
  status: 'active' | 'paused' | 'ended';
  runtime: { id: string; config: JsonObject };
  attention: AttentionSettings;
  grants: readonly CapabilityGrant[];
}

/** Who the agents are. Read-only: resolving a target changes nothing (F4). */
export interface AgentDirectory {
  byHome(sql: Sql, home: string): Promise<AgentDefinition | undefined>;
  byAgent(sql: Sql, tenant: string, agent: string): Promise<AgentDefinition | undefined>;
  /** The same for several with one look; who is not there is missing. */
  byAgents(sql: Sql, tenant: string, agents: readonly string[]): Promise<AgentDefinition[]>;
  byHomes(sql: Sql, homes: readonly string[]): Promise<AgentDefinition[]>;
}

/** The right of one runtime host to act for one agent: refused as soon as the authoritative epoch has moved on (D17). */
export interface Fence {
  home: string;
  placementLeaseId: string;
  placementEpoch: number;
}

declare const heldFence: unique symbol;
/** A fence compared by equality with the authoritative record, whose row stays locked until the transaction ends. */
export type HeldFence = Fence & { readonly [heldFence]: true };

/** A placement that its holder still has; `renewed` is false when somebody had it locked: it is to be tried again. */
export interface RenewedPlacement extends Fence {
  renewed: boolean;
}

export interface Placements {
  /** Takes or confirms placements of agents for `holder`; missing are those that another live host has, or is to get. */
  claim(tx: Tx, holder: string, homes: readonly string[]): Promise<Fence[]>;
  /** Locks and compares (F12, D17); undefined when the fence is stale. */
  hold(tx: Tx, fence: Fence): Promise<HeldFence | undefined>;
  /** The same for fences of several homes, in one go; answers those that stand. */
  holdAll(tx: Tx, fences: readonly Fence[]): Promise<HeldFence[]>;
  /** Keeps these placements of `holder` alive; answers those it still has. */
  renew(tx: Tx, holder: string, homes: readonly string[]): Promise<RenewedPlacement[]>;
  /** Gives these placements of `holder` back, or all, so that another host need not wait for their end. */
  release(tx: Tx, holder: string, homes?: readonly string[]): Promise<void>;
  /** Which of these agents another live host has. */
  heldElsewhere(sql: Sql, holder: string, homes: readonly string[]): Promise<string[]>;
  /** Asks those that have these agents to hand them to `holder` when they can; answers those that nobody had asked for. */
  ask(tx: Tx, holder: string, homes: readonly string[]): Promise<string[]>;
  /** Which agents that `holder` has are asked for. */
  asked(sql: Sql, holder: string): Promise<string[]>;
}

export interface AuthorizationDecision {
  allowed: boolean;
  policyId: string;
  reason: string;
}

/** Business authorization of a proposal by local policy; the fifth decision of five, implied by no other. */
export interface Authority {
  authorize(sql: Sql, proposal: ActionProposal): Promise<AuthorizationDecision>;
  /** The same for several with one look, in their order. */
  authorizeAll?(sql: Sql, proposals: readonly ActionProposal[]): Promise<AuthorizationDecision[]>;
}

/** Dispatches an authorized, recorded intent to the world outside the database. */
export interface DispatchingEffectAdapter {
  kind: 'dispatching';
  /** Longest time one dispatch may take; after it a recovery may ask for the outcome. */
  timeoutMs: number;
  check(proposal: ActionProposal): { ok: true } | { ok: false; reason: string };
  dispatch(effect: EffectRecord, signal: AbortSignal): Promise<EffectOutcome>;
  /** Asks the target by idempotency key what became of a dispatch (F12: ask before repeating). */
  query(effect: EffectRecord, signal: AbortSignal): Promise<EffectOutcome | { status: 'not_found' }>;
}

/** An effect inside our own database: prepared (read heads, sign) without a transaction, written in the intent's own. */
export interface TransactionalEffectAdapter<Prepared extends PreparedEffect = PreparedEffect> {
  kind: 'transactional';
  check(proposal: ActionProposal): { ok: true } | { ok: false; reason: string };
  prepare(proposal: ActionProposal, effectId: string): Promise<Prepared | { refused: string }>;
  /**
   * Several effects in one commit. Undefined in an answer means "not so simply": that one is prepared and committed alone,
   * where it may be refused or found stale; nothing may have been written for it.
   */
  together?: {
    prepare(asked: readonly { proposal: ActionProposal; effectId: string }[]): Promise<(Prepared | undefined)[]>;
    commit(tx: Tx, prepared: readonly Prepared[]): Promise<({ result: JsonValue } | undefined)[]>;
  };
}

export interface PreparedEffect {
  /** Writes everything that must be true with the effect, or answers `stale` if what was signed over has moved. */
  commit(tx: Tx): Promise<{ result: JsonValue } | 'stale' | { refused: string }>;
  /** What to wake once the transaction is in. */
  wake: readonly string[];
}

export type EffectAdapter = DispatchingEffectAdapter | TransactionalEffectAdapter;

/** Finds the adapter that serves an action; undefined when no adapter does. */
export interface EffectAdapters {
  forAction(action: string): EffectAdapter | undefined;
}
