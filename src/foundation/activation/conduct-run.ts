/**
 * One runtime from its activation to its ending. Each event is written before the next is asked for; who may no longer
 * write them stops listening. What a runtime throws fails its run; what our own records throw abandons it to its lease.
 */
import type { Tx } from '../../platform/index.js';
import type { JsonObject, JsonValue } from '../../protocol/index.js';
import { isRefusal, observationOf, performEffect } from '../effect/index.js';
import type { FoundationParts } from '../parts.js';
import { type ClaimedRun, recordModelInput, runLimits } from '../run/index.js';
import { appendRunEvents, countRuntimeEvents, holdRunningRun, runChannel } from '../run-event/index.js';
import type { RunEnding, RuntimeEvent, RuntimeProposal } from '../runtime/index.js';
import { interactionConversation } from '../session/index.js';
import { type Halt, isAbandoned } from './halt.js';
import type { PreparedRun } from './prepare-run.js';
import { checkedEnding, faultOfValue } from './runtime-event-check.js';
import { surely } from './surely.js';

type Conductor = Omit<FoundationParts, 'holder' | 'live' | 'directory' | 'runtimes'>;

export interface ConductRun {
  run: ClaimedRun;
  prepared: PreparedRun;
  halt: Halt;
}

export async function conductRun(conductor: Conductor, conduct: ConductRun): Promise<RunEnding | 'abandoned'> {
  const { run, halt } = conduct;
  const events = activate(conductor, conduct);
  if (!events) return { type: 'run.failed', reason: 'runtime_error' };
  const limit = conductor.clock.timer(runLimits.timeLimitMs, () => halt.halt('time_limit'));
  try {
    const ending = await followEvents(conductor, conduct, events);
    return isAbandoned(halt.why()) ? 'abandoned' : endingUnder(halt, ending);
  } finally {
    limit.cancel();
    // Not awaited: a runtime that ignores its signal would hold up everything behind it.
    Promise.resolve(events.return?.()).catch((error: unknown) =>
      conductor.log.debug({ err: error, runId: run.id }, 'a runtime failed while it was closed'),
    );
  }
}

/** Undefined when the runtime throws before its first event. */
function activate(conductor: Conductor, conduct: ConductRun): AsyncIterator<RuntimeEvent> | undefined {
  const { run, prepared, halt } = conduct;
  let proposals = 0;
  try {
    const events = prepared.runtime.activate({
      runId: run.id,
      sessionRef: run.sessionId,
      origin: prepared.origin,
      runtimeState: prepared.runtimeState,
      contextBundle: prepared.bundle,
      bundleDigest: prepared.bundleDigest,
      runPolicy: { timeLimitMs: runLimits.timeLimitMs, attempt: run.attempt },
      propose(proposal) {
        proposals += 1;
        return proposals <= runLimits.proposals
          ? propose(conductor, conduct, proposal)
          : Promise.reject(new Error(`a run may propose ${runLimits.proposals} times`));
      },
      signal: halt.signal,
    });
    return events[Symbol.asyncIterator]();
  } catch (error) {
    conductor.log.warn({ err: error, runId: run.id }, 'a runtime failed');
    return undefined;
  }
}

async function followEvents(
  conductor: Conductor,
  conduct: ConductRun,
  events: AsyncIterator<RuntimeEvent>,
): Promise<RunEnding> {
  const halted = haltDeadline(conductor, conduct.halt);
  for (let count = 0; count < runLimits.events; count += 1) {
    const next = await Promise.race([nextEvent(conductor, conduct.run, events), halted]);
    if (next === 'halted') return { type: 'run.cancelled', reason: 'control_cancel' };
    if (isEnding(next)) return checkedEnding(next);
    const fault = await keepEvent(conductor, conduct, { event: next, before: count });
    if (fault !== undefined) return { type: 'run.failed', reason: fault };
  }
  return { type: 'run.failed', reason: 'too_many_events' };
}

/** A cancelled run may still say how it ended; an abandoned one is not listened to any more. */
async function haltDeadline({ clock }: Conductor, { signal, why }: Halt): Promise<'halted'> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  if (!isAbandoned(why())) await clock.sleep(runLimits.stopGraceMs);
  return 'halted';
}

async function nextEvent(
  conductor: Conductor,
  run: ClaimedRun,
  events: AsyncIterator<RuntimeEvent>,
): Promise<RuntimeEvent> {
  try {
    const next = await events.next();
    return next.done ? { type: 'run.failed', reason: 'runtime_ended_without_outcome' } : next.value;
  } catch (error) {
    conductor.log.warn({ err: error, runId: run.id }, 'a runtime failed');
    return { type: 'run.failed', reason: 'runtime_error' };
  }
}

function isEnding(event: RuntimeEvent): event is RunEnding {
  return event.type.startsWith('run.');
}

interface KeepEvent {
  event: Exclude<RuntimeEvent, RunEnding>;
  /** How many of the runtime's events are kept already. */
  before: number;
}

/** Undefined when it was kept, or the run is not ours any more; else why the run fails. */
async function keepEvent(
  conductor: Conductor,
  { run, halt }: ConductRun,
  { event, before }: KeepEvent,
): Promise<string | undefined> {
  const fault = faultOfValue(event.data, runLimits.eventBytes);
  if (fault) return `event_${fault}`;
  const { home, id: runId } = run;
  const kept = await surely(conductor, {
    runId,
    attempt: () => conductor.db.transact('keep-run-event', (tx) => keepIn(conductor, tx, { run, event })),
    found: async () => ((await countRuntimeEvents(conductor.db.sql, { home, runId })) > before ? true : undefined),
  });
  if (kept) conductor.wakeups.wake(runChannel(runId));
  else halt.halt('lost');
  return undefined;
}

/** False when the run is not ours any more. */
async function keepIn(
  { placements }: Conductor,
  tx: Tx,
  { run, event }: { run: ClaimedRun; event: KeepEvent['event'] },
): Promise<boolean> {
  const { home, id: runId } = run;
  const fence = await placements.hold(tx, run.fence);
  if (!fence || !(await holdRunningRun(tx, { home, runId, fence }))) return false;
  await appendRunEvents(tx, { home, runId, events: [{ type: event.type, data: asObject(event.data) }] });
  if (event.type === 'model.input') await recordModelInput(tx, { home, id: runId, record: event.data });
  return true;
}

function asObject(data: JsonValue): JsonObject {
  return data !== null && typeof data === 'object' && !Array.isArray(data) ? data : { value: data };
}

/** Every proposal of a run passes the Effect Gateway, under the run's fence. */
async function propose(
  conductor: Conductor,
  { run, prepared, halt }: ConductRun,
  proposal: RuntimeProposal,
): Promise<JsonObject> {
  if (halt.why() !== undefined) throw new Error('the run is over');
  const asked = proposalOf(run, prepared, proposal);
  try {
    // One intent has one key: proposed again, it is found as far as it came.
    const result = await surely(conductor, { runId: run.id, attempt: () => performEffect(conductor, asked) });
    // No answer of the world: the run has moved on without us.
    if (isRefusal(result) && (result.reason === 'fence_stale' || result.reason === 'run_over')) halt.halt('lost');
    return observationOf(result);
  } catch (error) {
    conductor.log.warn({ err: error, runId: run.id }, 'a proposal could not be recorded; the run is given up');
    halt.halt('fault');
    throw error;
  }
}

function proposalOf(run: ClaimedRun, { agent, input: activation, bundle }: PreparedRun, proposal: RuntimeProposal) {
  const { proposalId, action, target, input } = proposal;
  const conversationId = activation.target?.conversation_id ?? interactionConversation(activation);
  return {
    proposalScope: run.sessionId,
    proposalId,
    actor: { home: run.home, agent: agent.agent },
    tenant: run.tenant,
    action,
    target,
    input,
    run: {
      runId: run.id,
      sessionId: run.sessionId,
      fence: run.fence,
      activationInputId: activation.id,
      ...(conversationId === undefined ? {} : { conversationId }),
    },
    labels: [...new Set(bundle.observations.map((seen) => seen.trust_class))],
  };
}

/** A run that was told to stop has not failed by itself. */
function endingUnder(halt: Halt, ending: RunEnding): RunEnding {
  const why = halt.why();
  if (ending.type === 'run.completed' || ending.type === 'run.budget_exceeded') return ending;
  if (why === 'time_limit') return { type: 'run.failed', reason: 'time_limit' };
  if (why === 'cancelled') return { type: 'run.cancelled', reason: 'control_cancel' };
  return ending;
}
