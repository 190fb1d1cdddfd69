/**
 * The runtime contract (F17): what executes an agent, whatever it is made of. A runtime sees only its activation; it acts on
 * the world only through `propose`, and what it says in events is never an act.
 */
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import type { ContextBundle } from '../context/index.js';
import type { WaitTerms } from '../suspension/index.js';

export interface RuntimeDescriptor {
  runtime_id: string;
  runtime_version: string;
  supports_steer: boolean;
  supports_interrupt: boolean;
  supports_native_resume: boolean;
  supports_fork: boolean;
  supports_checkpoint: boolean;
  suspend: 'native' | 'host';
  state_portability: 'portable' | 'native' | 'remote';
}

interface RunPolicy {
  timeLimitMs: number;
  /** 1 for the first attempt. A later one finds the effects of the earlier ones under the same proposal ids. */
  attempt: number;
}

export interface RuntimeProposal {
  /** Stable per wish: the same id in a later attempt finds the first effect. */
  proposalId: string;
  action: string;
  target: string;
  input: JsonObject;
}

export interface Activation {
  runId: string;
  sessionRef: string;
  /** `resume` and `fork` go on from `runtimeState`; `activate` is a new piece of work in the session. */
  origin: 'activate' | 'resume' | 'fork';
  runtimeState: JsonValue | undefined;
  contextBundle: ContextBundle;
  bundleDigest: string;
  runPolicy: RunPolicy;
  /** Asks the Effect Gateway; resolves with what became of it, also when it was refused. */
  propose(proposal: RuntimeProposal): Promise<JsonObject>;
  /** Aborts when the run has to stop; a runtime that does not end soon after is abandoned. */
  signal: AbortSignal;
}

export interface SuspensionRequest extends WaitTerms {
  reason: string;
  runtimeState: JsonValue;
}

/** How a run ends, in the runtime's own words. */
export type RunEnding =
  | { type: 'run.completed'; result: JsonValue; runtimeState?: JsonValue }
  | { type: 'run.failed'; reason: string }
  | { type: 'run.cancelled'; reason: string }
  | { type: 'run.budget_exceeded'; reason: string }
  | ({ type: 'run.suspended' } & SuspensionRequest);

export type RuntimeEvent =
  | { type: 'output'; data: JsonValue }
  | { type: 'log'; data: JsonValue }
  /** What the model was really sent, as far as the runtime can tell (F10). */
  | { type: 'model.input'; data: JsonObject }
  | RunEnding;

export interface Steering {
  input_id: string;
  type: string;
  trust_class: string;
  data: JsonValue;
}

export interface Runtime {
  describe(): RuntimeDescriptor;
  activate(activation: Activation): AsyncIterable<RuntimeEvent>;
  /** False when the run can take nothing more; the input then waits for the next run. */
  steer?(runId: string, steering: Steering): Promise<boolean>;
  cancel?(runId: string, reason: string): Promise<void>;
  /** The state of an independent branch; without it a portable state is copied. */
  fork?(state: JsonValue): Promise<JsonValue>;
}

/** A runtime as installed: opened with the configuration of one agent. */
export interface RuntimeKind {
  id: string;
  /** Throws `Problem('schema_invalid')` for a configuration that it cannot run. */
  checkConfig(config: JsonObject): void;
  /** Undefined when the configuration cannot be run. */
  open(config: JsonObject): Runtime | undefined;
}

export interface RuntimeRegistry {
  open(runtime: { id: string; config: JsonObject }): Runtime | undefined;
  /** For the creation of agents. Throws `Problem('schema_invalid')`, also for a runtime that is not installed. */
  check(runtime: { id: string; config: JsonObject }): void;
}

/** What a decision assumes of a runtime that is not installed: nothing. Its runs end with a reason. */
export function missingRuntime(runtimeId: string): RuntimeDescriptor {
  return {
    runtime_id: runtimeId,
    runtime_version: 'not installed',
    supports_steer: false,
    supports_interrupt: false,
    supports_native_resume: false,
    supports_fork: false,
    supports_checkpoint: false,
    suspend: 'host',
    state_portability: 'remote',
  };
}
