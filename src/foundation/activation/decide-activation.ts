/**
 * ActivationPolicy: what one candidate does to an agent, as a pure table of facts (F5). Exactly one of eight:
 * IGNORE (nothing), PROJECT (its environment knows, nobody wakes), ACTIVATE (a run in an idle or new session), ENQUEUE (the
 * session's lane), STEER (into the live run), INTERRUPT (end the live run or wait), FORK (a branch), RESUME (the waiting run
 * goes on in a new one). The first row that applies decides.
 */
import type { ControlVerb, InputKind } from '../input/index.js';
import type { WhenActive } from '../ports.js';
import type { RuntimeDescriptor } from '../runtime/index.js';
import type { SessionState } from '../session/index.js';
import type { WaitOutcome } from '../suspension/index.js';

export type Decision = 'IGNORE' | 'PROJECT' | 'ACTIVATE' | 'ENQUEUE' | 'STEER' | 'INTERRUPT' | 'FORK' | 'RESUME';

export interface ActivationFacts {
  kind: InputKind;
  /** How the input reached the agent. */
  route: 'target' | 'subscription' | 'suspension' | 'control' | 'none';
  sessionState: 'none' | SessionState;
  /** A paused agent is decided on as an active one; its runs wait until it is active again. */
  agentStatus: 'active' | 'paused' | 'ended';
  runtime: RuntimeDescriptor;
  whenActive: WhenActive;
  /** Set by ingress for a control that it has authorized; never read from data. */
  controlVerb?: ControlVerb;
  suspensionMatches: boolean;
  /** What such an input does to the wait; absent is `matched`. */
  waitOutcome?: WaitOutcome;
  /** Whether the input's trust class may wake anybody. */
  wakes: boolean;
  /** What the agent's attention makes of it, where it is asked. */
  attention?: AttentionVerdict;
  /** Queued work of an idle session is held for a moment, for more to be merged with it. */
  laneHeld?: boolean;
  /** As much is queued in the session as may be. */
  laneFull?: boolean;
}

/** `wake` leaves the decision to the session's state. */
export interface AttentionVerdict {
  verdict: 'wake' | 'project' | 'ignore';
  policyId: string;
  reason: string;
}

export interface ActivationDecision {
  decision: Decision;
  policyId: string;
  reason: string;
}

type Outcome = readonly [decision: Decision, reason: string, policyId?: string];
interface Row {
  policyId: string;
  applies: (facts: ActivationFacts) => boolean;
  decide: (facts: ActivationFacts) => Outcome;
}

/** What becomes of whatever would be queued, or told to a run, where no more may be. */
const laneBound: Omit<ActivationDecision, 'decision'> = { policyId: 'activation.lane-bound', reason: 'lane_full' };

/** What counts for a wait without ending it is known to the environment, and shown to the continuation. */
const ofWait: Record<WaitOutcome, Decision> = {
  matched: 'RESUME',
  expired: 'RESUME',
  partly_matched: 'PROJECT',
  repeated: 'IGNORE',
};

const policy: readonly Row[] = [
  {
    policyId: 'activation.unrouted',
    applies: ({ route }) => route === 'none',
    decide: () => ['IGNORE', 'no_candidate'],
  },
  {
    policyId: 'activation.agent-ended',
    applies: ({ agentStatus }) => agentStatus === 'ended',
    decide: () => ['IGNORE', 'agent_ended'],
  },
  {
    policyId: 'activation.context-projects',
    applies: ({ kind }) => kind === 'context',
    decide: () => ['PROJECT', 'context_never_wakes'],
  },
  {
    policyId: 'activation.control',
    applies: ({ kind, route }) => kind === 'control' || route === 'control',
    decide: decideControl,
  },
  {
    policyId: 'activation.trust',
    applies: ({ wakes }) => !wakes,
    decide: () => ['PROJECT', 'trust_class_does_not_wake'],
  },
  {
    policyId: 'activation.suspension',
    applies: ({ route }) => route === 'suspension',
    decide: ({ suspensionMatches, sessionState, waitOutcome = 'matched' }) =>
      suspensionMatches && sessionState === 'suspended'
        ? [ofWait[waitOutcome], `suspension_${waitOutcome}`]
        : ['IGNORE', 'suspension_consumed'],
  },
  {
    policyId: 'activation.command',
    applies: ({ kind }) => kind === 'command',
    decide: ({ sessionState, laneHeld, attention }) => {
      const unheeded = unheededBy(attention);
      if (unheeded) return unheeded;
      if (sessionState === 'active') return ['ENQUEUE', 'session_active'];
      // A wait is ended by what it waits for, not by other work: that follows after the continuation.
      if (sessionState === 'suspended') return ['ENQUEUE', 'session_suspended'];
      return laneHeld ? ['ENQUEUE', 'lane_held'] : ['ACTIVATE', 'command'];
    },
  },
  {
    policyId: 'activation.event-unsubscribed',
    applies: ({ route, attention }) => route === 'target' && attention === undefined,
    decide: () => ['PROJECT', 'event_not_subscribed'],
  },
  {
    policyId: 'activation.event-attention',
    applies: () => true,
    decide: decideEvent,
  },
];

export function decideActivation(facts: ActivationFacts): ActivationDecision {
  const row = policy.find(({ applies }) => applies(facts));
  if (!row) throw new Error('the last row applies to everything');
  const [decision, reason, policyId = row.policyId] = row.decide(facts);
  if (facts.laneFull && joinsLane(decision)) return { decision: 'IGNORE', ...laneBound };
  return { decision, policyId, reason };
}

/** What is told to a run that ends before it listens goes into the lane too. */
export function joinsLane(decision: Decision): boolean {
  return decision === 'ENQUEUE' || decision === 'STEER';
}

function unheededBy(attention: AttentionVerdict | undefined): Outcome | undefined {
  if (attention?.verdict === 'ignore') return ['IGNORE', attention.reason, attention.policyId];
  if (attention?.verdict === 'project') return ['PROJECT', attention.reason, attention.policyId];
  return undefined;
}

/** How an agent's attention treats an event that it listens to, or that its own time, goals or domain tell it. */
function decideEvent({ route, sessionState, whenActive, runtime, attention, laneHeld }: ActivationFacts): Outcome {
  const unheeded = unheededBy(attention);
  if (unheeded) return unheeded;
  if (sessionState === 'none' || sessionState === 'idle') {
    if (laneHeld) return ['ENQUEUE', 'lane_held'];
    return ['ACTIVATE', route === 'target' ? 'event_attended' : 'event_subscribed'];
  }
  if (whenActive === 'project') return ['PROJECT', `attention_projects_while_${sessionState}`];
  if (whenActive === 'fork') return canFork(runtime) ? ['FORK', 'attention_forks'] : ['ENQUEUE', 'fork_unsupported'];
  if (sessionState === 'suspended') return ['ENQUEUE', 'session_suspended'];
  if (whenActive === 'steer') {
    return runtime.supports_steer ? ['STEER', 'attention_steers'] : ['ENQUEUE', 'steer_unsupported'];
  }
  return ['ENQUEUE', 'session_active'];
}

function decideControl({ kind, controlVerb, sessionState, runtime }: ActivationFacts): Outcome {
  if (kind !== 'control' || controlVerb === undefined) return ['IGNORE', 'no_control_authority'];
  if (sessionState === 'none') return ['IGNORE', 'unknown_target'];
  const idle = sessionState === 'idle';
  switch (controlVerb) {
    case 'cancel':
    case 'interrupt':
      return idle ? ['IGNORE', 'nothing_to_interrupt'] : ['INTERRUPT', `control_${controlVerb}`];
    case 'steer':
      if (idle) return ['IGNORE', 'nothing_to_steer'];
      if (sessionState === 'suspended') return ['ENQUEUE', 'session_suspended'];
      return runtime.supports_steer ? ['STEER', 'control_steer'] : ['ENQUEUE', 'steer_unsupported'];
    case 'resume':
      return sessionState === 'suspended' ? ['RESUME', 'control_resume'] : ['IGNORE', 'nothing_to_resume'];
    case 'fork':
      return canFork(runtime) ? ['FORK', 'control_fork'] : ['ENQUEUE', 'fork_unsupported'];
  }
}

/** F8: a branch needs the runtime's own fork, or state that can be copied. */
function canFork(runtime: RuntimeDescriptor): boolean {
  return runtime.supports_fork || runtime.state_portability === 'portable';
}
