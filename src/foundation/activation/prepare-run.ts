/**
 * Gathers what queued runs work on, for all that are to begin together: read before any is claimed, recorded in the commit
 * that claims them, and so before a runtime sees it (F9). Inputs and candidates never change; what an environment knows may
 * be a moment old, and the bundle says which version it saw.
 */
import type { Sql } from '../../platform/index.js';
import { digestOf, type JsonValue } from '../../protocol/index.js';
import { bundleBytes, type ContextBundle, projectContext } from '../context/index.js';
import { projectedResource, selectStates } from '../environment/index.js';
import { type InputRecord, selectInputs } from '../input/index.js';
import type { FoundationParts } from '../parts.js';
import type { AgentDefinition } from '../ports.js';
import type { RunRecord } from '../run/index.js';
import type { Activation, Runtime } from '../runtime/index.js';
import { type SessionRecord, selectSessionsById } from '../session/index.js';
import { type RuntimeState, selectRuntimeState, selectSuspensionOfRun } from '../suspension/index.js';
import { type CandidateRecord, selectCandidates } from './candidate-store.js';
import { laneLimits } from './lane.js';
import { selectTakenAlong } from './lane-store.js';

export type Preparer = Pick<FoundationParts, 'db' | 'runtimes'>;

export interface PreparedRun {
  agent: AgentDefinition;
  input: InputRecord;
  runtime: Runtime;
  origin: Activation['origin'];
  runtimeState: JsonValue | undefined;
  bundle: ContextBundle;
  bundleBytes: Uint8Array;
  bundleDigest: string;
}

/** `failed`: the run cannot be driven at all. */
export type Preparation = PreparedRun | { failed: string };

export interface RunToPrepare {
  run: RunRecord;
  agent: AgentDefinition | undefined;
}

/** One preparation for each run, in their order. */
export async function prepareRuns(preparer: Preparer, queued: readonly RunToPrepare[]): Promise<Preparation[]> {
  const facts = await readFacts(preparer.db.sql, queued);
  return queued.map((each) => prepareRun(preparer, facts, each));
}

interface Facts {
  candidates: ReadonlyMap<string, CandidateRecord>;
  inputs: ReadonlyMap<string, InputRecord>;
  along: ReadonlyMap<string, readonly InputRecord[]>;
  /** By run: what it goes on from. */
  states: ReadonlyMap<string, RuntimeState>;
  environment: Awaited<ReturnType<typeof selectStates>>;
}

async function readFacts(sql: Sql, queued: readonly RunToPrepare[]): Promise<Facts> {
  const runs = queued.map(({ run }) => run);
  const [candidates, states] = await Promise.all([
    selectCandidates(
      sql,
      runs.map(({ home, activationCandidateId }) => ({ home, id: activationCandidateId })),
    ),
    readStates(sql, runs),
  ]);
  const [inputs, along] = await Promise.all([
    selectInputs(
      sql,
      candidates.map(({ inputHome, inputId }) => ({ home: inputHome, id: inputId })),
    ),
    readAlong(sql, candidates),
  ]);
  const byInput = byId(inputs);
  const byCandidate = byId(candidates);
  const environment = await selectStates(
    sql,
    runs.flatMap((run) => {
      const input = byInput.get(byCandidate.get(run.activationCandidateId)?.inputId ?? '');
      return input ? resourcesOf(run, input).map((resource) => ({ home: run.home, resource })) : [];
    }),
  );
  return { candidates: byCandidate, inputs: byInput, along, states, environment };
}

function byId<Row extends { id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function resourcesOf(run: RunRecord, input: InputRecord): string[] {
  return [projectedResource(input), `session:${run.sessionId}`];
}

/** By candidate: the inputs of what became one run with it, queued behind it or counted before it by the wait that it ended. */
async function readAlong(
  sql: Sql,
  candidates: readonly CandidateRecord[],
): Promise<ReadonlyMap<string, readonly InputRecord[]>> {
  const merged = candidates.filter(({ mergedCount }) => mergedCount > 0);
  const found = await Promise.all(
    merged.map(async ({ home, id }) => {
      const taken = await selectTakenAlong(sql, { home, seedId: id, limit: laneLimits.merged });
      const inputs = byId(
        await selectInputs(
          sql,
          taken.map(({ inputHome, inputId }) => ({ home: inputHome, id: inputId })),
        ),
      );
      return [id, taken.flatMap(({ inputId }) => inputs.get(inputId) ?? [])] as const;
    }),
  );
  return new Map(found);
}

/** A continuation goes on from the checkpoint of the run that suspended, however often it is attempted. */
async function readStates(sql: Sql, runs: readonly RunRecord[]): Promise<ReadonlyMap<string, RuntimeState>> {
  const fresh = runs.filter(({ resumedFromRunId }) => resumedFromRunId === null);
  const sessions = byId<SessionRecord>(
    await selectSessionsById(
      sql,
      fresh.map(({ home, sessionId }) => ({ home, id: sessionId })),
    ),
  );
  const found = await Promise.all(
    runs.map(async ({ home, id, sessionId, resumedFromRunId }) => {
      const ref =
        resumedFromRunId === null
          ? sessions.get(sessionId)?.runtimeStateRef
          : (await selectSuspensionOfRun(sql, home, resumedFromRunId))?.runtimeStateRef;
      const state = ref === undefined || ref === null ? undefined : await selectRuntimeState(sql, home, ref);
      return state ? [[id, state] as const] : [];
    }),
  );
  return new Map(found.flat());
}

function prepareRun({ runtimes }: Preparer, facts: Facts, { run, agent }: RunToPrepare): Preparation {
  const candidate = facts.candidates.get(run.activationCandidateId);
  const input = candidate && facts.inputs.get(candidate.inputId);
  if (!candidate || !input) throw new Error(`run ${run.id} has no activation input`);
  if (!agent || agent.status === 'ended') return { failed: 'agent_ended' };
  if (agent.runtime.id !== run.runtimeId) return { failed: 'runtime_changed' };
  const runtime = runtimes.open(agent.runtime);
  if (!runtime) return { failed: 'runtime_unavailable' };
  const stored = facts.states.get(run.id);
  if (stored && !canRead(runtime, stored.runtimeVersion)) return { failed: 'runtime_version_changed' };
  const resources = resourcesOf(run, input);
  const states = facts.environment.filter(({ home, resource }) => home === run.home && resources.includes(resource));
  const along = facts.along.get(candidate.id) ?? [];
  const taken = candidate.decision === 'RESUME' ? { earlier: along } : { merged: along };
  const bundle = projectContext({ input, ...taken, agent, sessionId: run.sessionId, states });
  const bytes = bundleBytes(bundle);
  return {
    agent,
    input,
    runtime,
    origin: run.resumedFromRunId !== null ? 'resume' : candidate.decision === 'FORK' ? 'fork' : 'activate',
    runtimeState: stored?.state,
    bundle,
    bundleBytes: bytes,
    bundleDigest: digestOf(bytes),
  };
}

/** F8: native state belongs to the version that wrote it; portable state may be read by another. */
function canRead(runtime: Runtime, writtenBy: string): boolean {
  const { runtime_version, state_portability } = runtime.describe();
  return state_portability === 'portable' || runtime_version === writtenBy;
}
