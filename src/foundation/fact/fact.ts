/**
 * What the Foundation itself does, as inputs that can be subscribed to (F25). A fact names what happened and how it ended,
 * never what was said or done in it: whoever may read that asks for it by id.
 */
import type { JsonObject, Mint } from '../../protocol/index.js';

export const foundationPrincipal = 'system:foundation';

export const factLimits = {
  /** Facts about what facts have caused, one after the other; the next is audited and not told. */
  depth: 8,
} as const;

type FactType =
  | `run.${'completed' | 'failed' | 'cancelled' | 'suspended' | 'budget_exceeded'}`
  | `effect.${'succeeded' | 'failed' | 'unknown'}`
  | 'message.observed'
  /** Told by whoever keeps approvals. */
  | `approval.${'given' | 'refused' | 'expired'}`;

export interface Fact {
  home: string;
  tenant: string;
  type: FactType;
  /** What it is about: `run:{id}`, `effect:{id}`, `message:{id}`, `approval:{id}`. */
  subject: string;
  /** What tells it apart from others of its type in its home; default: the subject. */
  key?: string;
  data: JsonObject;
  /** The run that it comes from: its activation is the cause, and one more step has been taken. */
  runId?: string | null;
  ids: Mint;
}

interface EndedRun {
  home: string;
  id: string;
  tenant: string;
  sessionId: string;
}

type RunOutcome = 'completed' | 'failed' | 'cancelled' | 'suspended' | 'budget_exceeded';

export function runFact(run: EndedRun, status: RunOutcome, reason: string | null): Omit<Fact, 'ids'> {
  const { home, id, tenant, sessionId } = run;
  const data = { run_id: id, session_id: sessionId, status, reason };
  return { home, tenant, type: `run.${status}`, subject: `run:${id}`, data, runId: id };
}

interface SettledEffect {
  home: string;
  effectId: string;
  tenant: string;
  action: string;
  runId: string | null;
  status: string;
  reasonCode: string | null;
}

/** Undefined while nobody knows anything of its outcome. */
export function effectFact(effect: SettledEffect): Omit<Fact, 'ids'> | undefined {
  const { home, effectId, tenant, action, runId, status, reasonCode } = effect;
  if (status !== 'succeeded' && status !== 'failed' && status !== 'unknown') return undefined;
  const data = { effect_id: effectId, run_id: runId, action, status, reason: reasonCode };
  return { home, tenant, type: `effect.${status}`, subject: `effect:${effectId}`, data, runId };
}
