/**
 * Makes one decision true, in the resolver's transaction: the candidate row and what follows from it are one commit, so a
 * consumed input always has its run, and a run its input (F6, F14).
 */
import type { Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import type { WeighedAttention } from '../attention/index.js';
import { projectInput } from '../environment/index.js';
import type { InputRecord } from '../input/index.js';
import { newId } from '../new-id.js';
import { foundationChannels } from '../parts.js';
import { controlChannel, insertControl } from '../run/index.js';
import { runChannel } from '../run-event/index.js';
import type { RuntimeDescriptor } from '../runtime/index.js';
import {
  type InsertSession,
  insertSession,
  keepRuntimeState,
  type SessionRecord,
  sessionKeysOf,
} from '../session/index.js';
import { cancelSuspension, type SuspensionRecord, selectOpenSuspension } from '../suspension/index.js';
import { type CandidateStatus, insertCandidate, type LanePlace } from './candidate-store.js';
import type { ActivationDecision } from './decide-activation.js';
import { cancelQueuedRun } from './end-run.js';
import type { CandidateSeed } from './find-candidates.js';
import { type BeginRun, beginRun, dequeueNext, lanePlaceOf } from './lane.js';
import { resumeSession } from './resume-session.js';

export interface ApplyDecision {
  mint: Mint;
  input: InputRecord & { position: number };
  seed: CandidateSeed;
  /** Locked; undefined when the input leads to none yet. */
  session: SessionRecord | undefined;
  suspension: SuspensionRecord | undefined;
  runtime: RuntimeDescriptor;
  decided: ActivationDecision;
  attention?: WeighedAttention | undefined;
}

/** Answers which channels to wake after the commit. */
export async function applyDecision(tx: Tx, apply: ApplyDecision): Promise<string[]> {
  switch (apply.decided.decision) {
    case 'IGNORE':
      await record(tx, apply, { status: 'settled' });
      return [];
    case 'PROJECT':
      if (await record(tx, apply, { status: 'settled' })) await projectInput(tx, apply.seed.agent.home, apply.input);
      return [];
    case 'ACTIVATE':
      return apply.session ? activate(tx, apply, apply.session) : activateNew(tx, apply);
    case 'FORK':
      return activateNew(tx, apply);
    case 'ENQUEUE':
      return enqueue(tx, apply);
    case 'STEER':
      return steer(tx, apply);
    case 'INTERRUPT':
      return interrupt(tx, apply);
    case 'RESUME':
      return resume(tx, apply);
  }
}

interface Recorded {
  status: CandidateStatus;
  id?: string;
  sessionId?: string;
  runId?: string;
  lane?: LanePlace;
}

async function record(
  tx: Tx,
  { seed, input, decided, mint, session, attention }: ApplyDecision,
  recorded: Recorded,
): Promise<boolean> {
  const { home } = seed.agent;
  return insertCandidate(tx, {
    home,
    id: recorded.id ?? newId('cand', home, mint),
    input,
    route: seed.route,
    sessionId: recorded.sessionId ?? session?.id,
    decided,
    status: recorded.status,
    runId: recorded.runId,
    lane: recorded.lane,
    attention,
  });
}

/** A new session; a branch of the given one when the decision is FORK, which takes none of its keys over. */
function newSessionOf({ seed, input, mint, runtime, decided, session }: ApplyDecision): InsertSession {
  const { agent } = seed;
  const branches = decided.decision === 'FORK' && session !== undefined;
  return {
    home: agent.home,
    id: newId('ses', agent.home, mint),
    tenant: agent.tenant,
    agent: agent.agent,
    runtimeId: session?.runtimeId ?? agent.runtime.id,
    runtimeVersion: session?.runtimeVersion ?? runtime.runtime_version,
    keys: branches ? [] : sessionKeysOf(input),
    ...(branches ? { forkedFrom: { sessionId: session.id, runtimeStateRef: session.runtimeStateRef } } : {}),
  };
}

/** Session, candidate and run are sent to the database at once, in the order in which they lean on each other. */
async function activateNew(tx: Tx, apply: ApplyDecision): Promise<string[]> {
  const session = newSessionOf(apply);
  const [, channels] = await Promise.all([insertSession(tx, session), activate(tx, apply, session)]);
  return channels;
}

async function activate(tx: Tx, apply: ApplyDecision, session: BeginRun['session']): Promise<string[]> {
  const { mint, input } = apply;
  const runId = newId('run', session.home, mint);
  const id = newId('cand', session.home, mint);
  await Promise.all([
    record(tx, apply, { id, status: 'running', sessionId: session.id, runId }),
    beginRun(tx, { session, runId, candidateId: id, position: input.position }),
  ]);
  return [foundationChannels.runs];
}

async function enqueue(tx: Tx, apply: ApplyDecision): Promise<string[]> {
  const session = apply.session ?? (await insertSession(tx, newSessionOf(apply)));
  const lane = lanePlaceOf(apply.seed.agent.attention, apply.input);
  await record(tx, apply, { status: 'queued', sessionId: session.id, lane });
  if (session.state !== 'idle') return [];
  await dequeueNext(tx, session, apply.mint);
  return [foundationChannels.runs];
}

async function steer(tx: Tx, apply: ApplyDecision): Promise<string[]> {
  const { home, runId } = liveRunOf(apply);
  const id = newId('cand', home, apply.mint);
  // Its place if the run ends before it listens; it was meant to be told by itself, so nothing merges with it.
  const { rank } = lanePlaceOf(apply.seed.agent.attention, apply.input);
  await record(tx, apply, { id, status: 'running', runId, lane: { rank } });
  await insertControl(tx, {
    home,
    runId,
    verb: 'steer',
    candidateId: id,
    inputHome: apply.input.home,
    inputId: apply.input.id,
  });
  return [controlChannel(runId)];
}

/** Ends the live run by way of the process that drives it; the wait, or a run that nobody drives yet, here and now. */
async function interrupt(tx: Tx, apply: ApplyDecision): Promise<string[]> {
  const { session, suspension, mint, input } = apply;
  if (session?.state === 'suspended') {
    await record(tx, apply, { status: 'consumed' });
    if (!suspension || !(await cancelSuspension(tx, suspension)))
      throw new Error(`session ${session.id} waits for nothing`);
    await keepRuntimeState(tx, { home: session.home, id: session.id, ref: null });
    const next = await dequeueNext(tx, session, mint);
    return next === undefined ? [] : [foundationChannels.runs];
  }
  const { home, runId } = liveRunOf(apply);
  const id = newId('cand', home, mint);
  await record(tx, apply, { id, status: 'consumed', runId });
  if (session && (await cancelQueuedRun(tx, { session, runId, mint }))) {
    return [runChannel(runId), foundationChannels.runs, foundationChannels.inputs];
  }
  await insertControl(tx, { home, runId, verb: 'cancel', candidateId: id, inputHome: input.home, inputId: input.id });
  return [controlChannel(runId), foundationChannels.runs];
}

async function resume(tx: Tx, { session, suspension, input, seed, decided, mint }: ApplyDecision): Promise<string[]> {
  if (!session || !suspension) throw new Error('RESUME was decided without a wait');
  const resumed = await resumeSession(tx, { session, suspension, input, route: seed.route, decided, mint });
  if (!resumed) throw new Error(`suspension ${suspension.id} changed under its session's lock`);
  return [foundationChannels.runs];
}

function liveRunOf({ session }: ApplyDecision): { home: string; runId: string } {
  if (!session || session.activeRunId === null) throw new Error('a live run was decided on where there is none');
  return { home: session.home, runId: session.activeRunId };
}

/** The open wait of a suspended session. */
export function openSuspensionOf(tx: Tx, session: SessionRecord | undefined): Promise<SuspensionRecord | undefined> {
  if (session?.state !== 'suspended') return Promise.resolve(undefined);
  return selectOpenSuspension(tx, session.home, session.id);
}
