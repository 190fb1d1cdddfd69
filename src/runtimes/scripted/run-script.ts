/** Executes one activation of a script, step by step, from its beginning or from a checkpoint. */
import type { Activation, RunEnding, RuntimeEvent } from '../../foundation/index.js';
import { canonicalize, type JsonObject, type JsonValue } from '../../protocol/index.js';
import { type Checkpoint, readCheckpoint } from './checkpoint.js';
import { resolveToText, resolveValue, type Scope, UnresolvedReference } from './reference.js';
import { findRule, ruleDigest, type Script, type ScriptRule, type ScriptStep } from './script.js';
import type { Steers } from './steers.js';

export async function* runScript(script: Script, activation: Activation, steers: Steers): AsyncGenerator<RuntimeEvent> {
  const { activation_input_ref: ref, activation_input_refs: refs } = activation.contextBundle;
  const current = describeInput(activation, ref);
  const place = placeOf(script, activation, current);
  if ('type' in place) {
    yield place;
    return;
  }
  const inputs = refs.map((id) => describeInput(activation, id));
  const progress: Progress = { ...place, activation, current, inputs, steered: null, steers };
  steers.open(activation.runId);
  try {
    yield* takeSteps(progress);
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    yield { type: 'run.failed', reason: `unresolved_reference ${error.pointer}` };
  } finally {
    steers.close(activation.runId);
  }
}

interface Place {
  rule: ScriptRule;
  index: number;
  step: number;
  vars: JsonObject;
  first: JsonObject;
}

interface Progress extends Place {
  activation: Activation;
  current: JsonObject;
  /** All that the run took, in order: what its wait had counted, the input that activated it, and what went along. */
  inputs: JsonObject[];
  steered: JsonValue;
  steers: Steers;
}

/** What a script sees of an input: the projection, with the facts of an interaction lifted out. */
function describeInput({ contextBundle }: Activation, id: string): JsonObject {
  const observed = contextBundle.observations.find(({ source_ref }) => source_ref === id);
  const content = asObject(observed?.projected_content ?? null);
  const data = asObject(content.data ?? null);
  const lifted = ['conversation_id', 'message_id', 'sender', 'commitment_id'].filter(
    (member) => typeof data[member] === 'string',
  );
  return {
    ...content,
    id,
    principal: observed?.provenance.principal ?? null,
    trust_class: observed?.trust_class ?? null,
    ...Object.fromEntries(lifted.map((member) => [member, data[member] ?? null])),
  };
}

/** Where to begin: at the checkpoint of a continuation or branch, else at the rule for the input's type. */
function placeOf(script: Script, { origin, runtimeState }: Activation, current: JsonObject): Place | RunEnding {
  const checkpoint = origin === 'activate' ? undefined : readCheckpoint(runtimeState);
  if (checkpoint) return placeAt(script, checkpoint);
  if (origin === 'resume') return { type: 'run.failed', reason: 'checkpoint_invalid' };
  const index = findRule(script, String(current.type ?? ''));
  const rule = index === undefined ? undefined : script.rules[index];
  if (index === undefined || !rule) return { type: 'run.completed', result: { ignored: true } };
  return { rule, index, step: 0, vars: {}, first: current };
}

function placeAt(script: Script, { rule: index, rule_digest, step, vars, first }: Checkpoint): Place | RunEnding {
  const rule = script.rules[index];
  if (!rule || ruleDigest(rule) !== rule_digest) return { type: 'run.failed', reason: 'script_changed' };
  return { rule, index, step, vars, first };
}

async function* takeSteps(progress: Progress): AsyncGenerator<RuntimeEvent> {
  const { rule, activation } = progress;
  const { signal } = activation;
  for (; progress.step < rule.steps.length; progress.step += 1) {
    const step = rule.steps[progress.step];
    const event = step && !signal.aborted ? await takeStep(progress, step) : undefined;
    if (signal.aborted) {
      yield { type: 'run.cancelled', reason: 'signalled' };
      return;
    }
    if (event) yield event;
    if (event?.type.startsWith('run.')) return;
  }
  yield { type: 'run.completed', result: null };
}

/** The event that a step gives, if any; one of type `run.*` is the end. */
async function takeStep(progress: Progress, step: ScriptStep): Promise<RuntimeEvent | undefined> {
  const scope = scopeOf(progress);
  if ('say' in step) return { type: 'output', data: resolveValue(step.say, scope) };
  if ('propose' in step) return propose(progress, step.propose, scope);
  if ('suspend' in step) return suspend(progress, step.suspend, scope);
  if ('await' in step) return awaitSteer(progress);
  if ('complete' in step) return { type: 'run.completed', result: resolveValue(step.complete, scope) };
  if ('fail' in step) return { type: 'run.failed', reason: resolveToText(step.fail, scope) };
  const [of, equals] = [valueOrNull(step.require.of, scope), resolveValue(step.require.equals, scope)];
  if (canonicalize(of) === canonicalize(equals)) return undefined;
  return { type: 'run.failed', reason: `requirement_unmet at step ${progress.step}` };
}

function scopeOf({ current, inputs, first, vars, steered }: Progress): Scope {
  return { activation: current, inputs, first, vars, steered };
}

type ProposeStep = Extract<ScriptStep, { propose: unknown }>['propose'];

/** The id depends on the first input and the step alone, so that a repeated run finds what was done. */
async function propose(progress: Progress, step: ProposeStep, scope: Scope): Promise<undefined> {
  const { activation, first, index, vars } = progress;
  const observation = await activation.propose({
    proposalId: `${String(first.id)}/${index}/${step.id}`,
    action: step.action,
    target: resolveToText(step.target, scope),
    input: asObject(resolveValue(step.input ?? {}, scope)),
  });
  progress.vars = { ...vars, [step.id]: observation };
  return undefined;
}

type SuspendStep = Extract<ScriptStep, { suspend: unknown }>['suspend'];

function suspend({ index, rule, step: at, vars, first }: Progress, step: SuspendStep, scope: Scope): RuntimeEvent {
  const checkpoint: Checkpoint = { rule: index, rule_digest: ruleDigest(rule), step: at + 1, vars, first };
  return {
    type: 'run.suspended',
    reason: resolveToText(step.reason, scope),
    subscriptions: step.until.map(({ subject, expires, repeat, dedupe, type }) => ({
      type,
      ...(subject === undefined ? {} : { subject: resolveToText(subject, scope) }),
      ...(repeat === undefined ? {} : { repeat }),
      ...(dedupe === undefined ? {} : { dedupe }),
      ...(expires === undefined ? {} : { expires: expiryOf(expires, scope) }),
    })),
    resumePolicy: step.resume ?? 'first_match',
    ...(step.expires === undefined ? {} : { expires: expiryOf(step.expires, scope) }),
    runtimeState: checkpoint,
  };
}

function expiryOf(expires: NonNullable<SuspendStep['expires']>, scope: Scope) {
  return 'in_ms' in expires ? { inMs: expires.in_ms } : { at: resolveToText(expires.at, scope) };
}

async function awaitSteer(progress: Progress): Promise<RuntimeEvent | undefined> {
  const { activation, steers } = progress;
  const steering = await steers.take(activation.runId, activation.signal);
  if (steering) progress.steered = { ...steering };
  return steering && { type: 'log', data: { steered_by: steering.input_id } };
}

function valueOrNull(value: JsonValue, scope: Scope): JsonValue {
  try {
    return resolveValue(value, scope);
  } catch (error) {
    if (error instanceof UnresolvedReference) return null;
    throw error;
  }
}

function asObject(value: JsonValue): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
