/**
 * ContextBundle: everything that a runtime is shown, recorded by the digest of its canonical bytes before it is shown (F9).
 * Content from outside stays an observation with its origin and trust class; it is never joined into an instruction.
 */
import type { JsonValue } from '../../protocol/index.js';
import type { TrustClass } from '../input/index.js';

export const contextLimits = {
  bundleBytes: 1024 * 1024,
  /** The input that activated; what else is known shares the rest. */
  activationBytes: 640 * 1024,
} as const;

export const projectorVersion = 'projector/1';

export type Observation = {
  source_ref: string;
  /** The version of environment state; 0 for an input, which never changes. */
  state_version: number;
  provenance: { source: string; principal: string; received_at: string; digest: string; rule: string };
  trust_class: TrustClass;
  content_type: string;
  projected_content: JsonValue;
  /** Present when the budget allowed only the beginning of the content, as text. */
  truncated_from_bytes?: number;
};

export type ContextBundle = {
  projector_version: string;
  agent: string;
  session_ref: string;
  activation_input_ref: string;
  activation_input_refs: string[];
  observations: Observation[];
  memory_refs: string[];
  environment_version: number;
  capability_manifest: { action: string; target: string }[];
  context_budget: { bytes: number; used: number; truncated: string[] };
};
