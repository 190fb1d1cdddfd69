/** Gathers what a claimed run works on, and records the bundle before the runtime sees it (F9). */
import { digestOf, type JsonValue } from '../../protocol/index.js';
import { bundleBytes, type ContextBundle, insertBundle, projectContext } from '../context/index.js';
import { projectedResource, selectStates } from '../environment/index.js';
import { type InputRecord, selectInput } from '../input/index.js';
import type { FoundationParts } from '../parts.js';
import type { AgentDefinition } from '../ports.js';
import { type ClaimedRun, recordBundle, runLimits } from '../run/index.js';
import { appendRunEvents, holdRunningRun, runChannel } from '../run-event/index.js';
import type { Activation, Runtime } from '../runtime/index.js';
import { selectSession } from '../session/index.js';
import { selectRuntimeState, selectSuspensionOfRun } from '../suspension/index.js';
import { type CandidateRecord, selectCandidate } from './candidate-store.js';
import { laneLimits } from './lane.js';
import { selectTakenAlong } from './lane-store.js';

export type Preparer = Pick<FoundationParts, 'db' | 'clock' | 'directory' | 'placements' | 'runtimes' | 'wakeups'>;

export interface PreparedRun {
  agent: AgentDefinition;
  input: InputRecord;
  runtime: Runtime;
  origin: Activation['origin'];
  runtimeState: JsonValue | undefined;
  bundle: ContextBundle;
  bundleDigest: string;
}

/** `failed`: the run cannot be driven at all. `lost`: it is no longer ours. */
export async function prepareRun(
  preparer: Preparer,
  run: ClaimedRun,
): Promise<PreparedRun | { failed: string } | 'lost'> {
  const { sql } = preparer.db;
  const { home } = run;
  const candidate = await selectCandidate(sql, home, run.activationCandidateId);
  const input = candidate && (await selectInput(sql, candidate.inputHome, candidate.inputId));
  if (!candidate || !input) throw new Error(`run ${run.id} has no activation input`);
  const agent = await preparer.directory.byHome(sql, home);
  if (!agent || agent.status === 'ended') return { failed: 'agent_ended' };
  if (agent.runtime.id !== run.runtimeId) return { failed: 'runtime_changed' };
  const runtime = preparer.runtimes.open(agent.runtime);
  if (!runtime) return { failed: 'runtime_unavailable' };

  const origin = run.resumedFromRunId !== null ? 'resume' : candidate.decision === 'FORK' ? 'fork' : 'activate';
  const stored = await findState(preparer, run);
  if (stored && !canRead(runtime, stored.runtimeVersion)) return { failed: 'runtime_version_changed' };
  const branch = origin === 'fork' ? runtime.fork?.bind(runtime) : undefined;
  const begun = stored && branch ? await forkState(preparer, () => branch(stored.state)) : { state: stored?.state };
  if (!begun) return { failed: 'fork_failed' };

  const resources = [projectedResource(input), `session:${run.sessionId}`];
  const states = await selectStates(sql, home, resources);
  const along = await mergedInputs(preparer, candidate);
  const taken = candidate.decision === 'RESUME' ? { earlier: along } : { merged: along };
  const bundle = projectContext({ input, ...taken, agent, sessionId: run.sessionId, states });
  const bundleDigest = await recordContext(preparer, run, bundle);
  if (bundleDigest === undefined) return 'lost';
  return { agent, input, runtime, origin, runtimeState: begun.state, bundle, bundleDigest };
}

/** The inputs of what became one run with the first: queued behind it, or counted before it by the wait that it ended. */
async function mergedInputs({ db }: Preparer, { home, id, mergedCount }: CandidateRecord): Promise<InputRecord[]> {
  if (mergedCount === 0) return [];
  const taken = await selectTakenAlong(db.sql, { home, seedId: id, limit: laneLimits.merged });
  const inputs = await Promise.all(taken.map(({ inputHome, inputId }) => selectInput(db.sql, inputHome, inputId)));
  return inputs.filter((input) => input !== undefined);
}

/** A continuation goes on from the checkpoint of the run that suspended, however often it is attempted. */
async function findState({ db }: Preparer, run: ClaimedRun) {
  const { home, resumedFromRunId, sessionId } = run;
  const ref =
    resumedFromRunId === null
      ? (await selectSession(db.sql, home, sessionId))?.runtimeStateRef
      : (await selectSuspensionOfRun(db.sql, home, resumedFromRunId))?.runtimeStateRef;
  return ref === undefined || ref === null ? undefined : selectRuntimeState(db.sql, home, ref);
}

/** Nobody can stop a run before its runtime is active, so a fork that throws or hangs fails it: undefined. */
async function forkState(
  { clock }: Preparer,
  fork: () => Promise<JsonValue>,
): Promise<{ state: JsonValue } | undefined> {
  const done = new AbortController();
  const forked = async () => ({ state: await fork() });
  const state = forked().catch(() => undefined);
  const late = clock.sleep(runLimits.stopGraceMs, done.signal).then(() => undefined);
  return Promise.race([state, late]).finally(() => done.abort());
}

/** F8: native state belongs to the version that wrote it; portable state may be read by another. */
function canRead(runtime: Runtime, writtenBy: string): boolean {
  const { runtime_version, state_portability } = runtime.describe();
  return state_portability === 'portable' || runtime_version === writtenBy;
}

async function recordContext(preparer: Preparer, run: ClaimedRun, bundle: ContextBundle): Promise<string | undefined> {
  const { home, id } = run;
  const bytes = bundleBytes(bundle);
  const digest = digestOf(bytes);
  const recorded = await preparer.db.transact('record-context', async (tx) => {
    const fence = await preparer.placements.hold(tx, run.fence);
    if (!fence || !(await holdRunningRun(tx, { home, runId: id, fence }))) return false;
    await insertBundle(tx, { home, digest, bytes });
    await recordBundle(tx, { home, id, digest });
    const data = { digest, bytes: bytes.length, activation_input_refs: bundle.activation_input_refs };
    await appendRunEvents(tx, { home, runId: id, events: [{ type: 'context.bundle', data }] });
    return true;
  });
  preparer.wakeups.wake(runChannel(id));
  return recorded ? digest : undefined;
}
