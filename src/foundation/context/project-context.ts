/** ContextProjector: input, agent and environment in, bundle out. Pure, so that the same facts give the same bytes. */
import { canonicalize, digestOf, type JsonValue, toUtf8 } from '../../protocol/index.js';
import type { EnvironmentState } from '../environment/index.js';
import type { InputRecord } from '../input/index.js';
import type { AgentDefinition } from '../ports.js';
import { type ContextBundle, contextLimits, type Observation, projectorVersion } from './context-bundle.js';

export interface ContextFacts {
  input: InputRecord;
  /** What a wait had counted before this ended it, in the order of the log. */
  earlier?: readonly InputRecord[];
  /** What the same run takes along, in the order of the lane. */
  merged?: readonly InputRecord[];
  agent: AgentDefinition;
  sessionId: string;
  states: readonly EnvironmentState[];
}

export function projectContext({
  input,
  earlier = [],
  merged = [],
  agent,
  sessionId,
  states,
}: ContextFacts): ContextBundle {
  const inputs = [...earlier, input, ...merged];
  let left: number = contextLimits.bundleBytes;
  const within = (observation: Observation, most: number): Observation => {
    const fitted = fitContent(observation, Math.min(most, left));
    left -= sizeOf(fitted.projected_content);
    return fitted;
  };
  const observations = [
    ...inputs.map((each) => within(observeInput(each), Math.floor(contextLimits.activationBytes / inputs.length))),
    ...states.map((state) => within(observeState(state), left)),
  ];
  return {
    projector_version: projectorVersion,
    agent: agent.agent,
    session_ref: sessionId,
    activation_input_ref: input.id,
    activation_input_refs: inputs.map(({ id }) => id),
    observations,
    memory_refs: [],
    environment_version: Math.max(0, ...states.map((state) => state.version)),
    capability_manifest: agent.grants.map(({ action, target }) => ({ action, target })),
    context_budget: {
      bytes: contextLimits.bundleBytes,
      used: contextLimits.bundleBytes - left,
      truncated: observations.flatMap((seen) => (seen.truncated_from_bytes === undefined ? [] : [seen.source_ref])),
    },
  };
}

/** The exact bytes that are stored, and that the digest names. */
export function bundleBytes(bundle: ContextBundle): Uint8Array {
  return toUtf8(canonicalize(bundle));
}

function observeInput(input: InputRecord): Observation {
  return {
    source_ref: input.id,
    state_version: 0,
    provenance: {
      source: input.source,
      principal: input.principal,
      received_at: input.receivedAt.toISOString(),
      digest: input.bodyDigest,
      rule: 'activation-input',
    },
    trust_class: input.trustClass,
    content_type: input.dataContentType,
    projected_content: {
      kind: input.kind,
      type: input.type,
      subject: input.subject === null ? null : { ...input.subject },
      target: input.target === null ? null : { ...input.target },
      occurred_at: input.occurredAt.toISOString(),
      correlation_id: input.correlationId,
      causation_id: input.causationId,
      data: input.data,
    },
  };
}

function observeState(state: EnvironmentState): Observation {
  return {
    source_ref: `environment:${state.resource}`,
    state_version: state.version,
    provenance: {
      source: 'environment',
      principal: 'environment',
      received_at: state.updatedAt.toISOString(),
      digest: digestOf(toUtf8(canonicalize(state.state))),
      rule: 'subject-state',
    },
    trust_class: state.trustClass,
    content_type: 'application/json',
    projected_content: state.state,
  };
}

/** Content that passes the budget becomes the beginning of its text, and the observation says how long it was. */
function fitContent(observation: Observation, most: number): Observation {
  const text = canonicalize(observation.projected_content);
  const size = Buffer.byteLength(text);
  if (size <= most) return observation;
  return { ...observation, projected_content: beginningOf(text, most), truncated_from_bytes: size };
}

/** As many whole characters as fit once the text is quoted, where a character may take six bytes. */
function beginningOf(text: string, most: number): string {
  const cut = text.slice(0, Math.floor(Math.max(0, most - 2) / 6));
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function sizeOf(content: JsonValue): number {
  return Buffer.byteLength(canonicalize(content));
}
