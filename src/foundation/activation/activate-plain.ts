/**
 * What most inputs are: a command to an agent that nobody waits for and that leads to no session yet. Neighbours of that kind
 * begin their sessions and runs together, in as many statements as one of them. Whatever else an input may be is found out
 * one by one, where each case has its place.
 */
import type { Clock, Tx } from '../../platform/index.js';
import type { Mint } from '../../protocol/index.js';
import { attendTo, isWeighed, looksAtNothing, type WeighedAttention } from '../attention/index.js';
import type { InputRecord } from '../input/index.js';
import { newId } from '../new-id.js';
import type { AgentDefinition, AgentDirectory } from '../ports.js';
import { insertRuns } from '../run/index.js';
import { missingRuntime, type RuntimeRegistry } from '../runtime/index.js';
import { insertActiveSessions, knownSessionKeys, linkSessions, sessionKeysOf } from '../session/index.js';
import { awaitedTypes } from '../suspension/index.js';
import { insertCandidates } from './candidate-store.js';
import { type ActivationDecision, decideActivation } from './decide-activation.js';
import type { LoggedInput } from './resolve-seed.js';

interface Activator {
  clock: Pick<Clock, 'now'>;
  directory: AgentDirectory;
  runtimes: RuntimeRegistry;
}

export interface PlainInput {
  input: LoggedInput;
  agent: AgentDefinition;
  keys: readonly string[];
  runtimeVersion: string;
  decided: ActivationDecision;
  attention: WeighedAttention | undefined;
}

/** Those of a tenant's inputs that are plain, by their ids. What an earlier one of them leads to is not known yet. */
export async function findPlain(
  activator: Activator,
  tx: Tx,
  inputs: readonly LoggedInput[],
): Promise<ReadonlyMap<string, PlainInput>> {
  const shaped = inputs.filter(isShapedPlainly);
  const [first] = shaped;
  if (!first) return new Map();
  const { tenant } = first;
  const [agents, awaited] = await Promise.all([
    activator.directory.byAgents(tx, tenant, [...new Set(shaped.map(agentOf))]),
    awaitedTypes(tx, { tenant, types: [...new Set(shaped.map(({ type }) => type))] }),
  ]);
  const byAgent = new Map(agents.map((agent) => [agent.agent, agent]));
  const candidates = shaped.filter(({ type }) => !awaited.has(type));
  const looked = await Promise.all(
    candidates.map((input) => plainOf(activator, tx, { input, agent: byAgent.get(agentOf(input)) })),
  );
  const found = looked.flatMap((plain) => plain ?? []);
  const named = found.flatMap(({ agent: { home }, keys }) => keys.map((key) => ({ home, key })));
  const known = await knownSessionKeys(tx, named);
  const fresh = found.filter(({ agent: { home }, keys }) => !keys.some((key) => known.has(`${home} ${key}`)));
  return new Map(fresh.map((plain) => [plain.input.id, plain]));
}

function isShapedPlainly({ kind, target }: InputRecord): boolean {
  return kind === 'command' && target?.agent !== undefined && target.session === undefined && target.run === undefined;
}

function agentOf({ target }: InputRecord): string {
  return target?.agent ?? '';
}

/** What attention would have to look around for is not plain. */
async function plainOf(
  { clock, runtimes }: Activator,
  tx: Tx,
  { input, agent }: { input: LoggedInput; agent: AgentDefinition | undefined },
): Promise<PlainInput | undefined> {
  if (!agent || agent.status === 'ended' || input.trustClass === 'historical_evidence') return undefined;
  const weighed = isWeighed(input, false);
  if (weighed && !looksAtNothing(agent.attention)) return undefined;
  const attention = weighed
    ? await attendTo(tx, { agent, input, subscription: undefined, activeRun: false, now: clock.now() })
    : undefined;
  const runtime = runtimes.open(agent.runtime)?.describe() ?? missingRuntime(agent.runtime.id);
  const decided = decideActivation({
    kind: input.kind,
    route: 'target',
    sessionState: 'none',
    agentStatus: agent.status,
    runtime,
    whenActive: agent.attention.whenActive,
    suspensionMatches: false,
    wakes: true,
    ...(attention === undefined ? {} : { attention }),
  });
  if (decided.decision !== 'ACTIVATE') return undefined;
  return { input, agent, keys: sessionKeysOf(input), runtimeVersion: runtime.runtime_version, decided, attention };
}

/** A part of a batch, with the last input of it. */
export type Segment = { last: LoggedInput } | { last: LoggedInput; together: readonly PlainInput[] };

/** In their order. What may lead to a session that one before it begins is no longer plain. */
export function segmentsOf(inputs: readonly LoggedInput[], plain: ReadonlyMap<string, PlainInput>): Segment[] {
  const segments: Segment[] = [];
  const seen = new Set<string>();
  let together: PlainInput[] = [];
  for (const input of inputs) {
    const keys = sessionKeysOf(input);
    const own = keys.some((key) => seen.has(key)) ? undefined : plain.get(input.id);
    for (const key of keys) seen.add(key);
    if (!own) {
      together = [];
      segments.push({ last: input });
    } else if (together.push(own) === 1) segments.push({ last: input, together });
    else segments.splice(-1, 1, { last: input, together });
  }
  return segments;
}

/** Sessions, candidates and runs in one flight; one commit with the batch. */
export async function activatePlain(tx: Tx, plain: readonly PlainInput[], mint: Mint): Promise<void> {
  const begun = plain.map((each) => ({
    ...each,
    home: each.agent.home,
    sessionId: newId('ses', each.agent.home, mint),
    candidateId: newId('cand', each.agent.home, mint),
    runId: newId('run', each.agent.home, mint),
  }));
  const [inserted] = await Promise.all([
    insertCandidates(
      tx,
      begun.map(({ home, candidateId, sessionId, runId, input, decided, attention }) => ({
        home,
        id: candidateId,
        input,
        route: 'target',
        sessionId,
        decided,
        attention,
        status: 'running',
        runId,
      })),
    ),
    insertActiveSessions(
      tx,
      begun.map(({ home, sessionId, runId, agent, runtimeVersion }) => ({
        home,
        id: sessionId,
        tenant: agent.tenant,
        agent: agent.agent,
        runtimeId: agent.runtime.id,
        runtimeVersion,
        activeRunId: runId,
      })),
    ),
    linkSessions(
      tx,
      begun.flatMap(({ home, sessionId, keys }) => keys.map((key) => ({ home, key, sessionId }))),
    ),
    insertRuns(
      tx,
      begun.map(({ home, runId, sessionId, candidateId, agent, runtimeVersion, input }) => ({
        home,
        id: runId,
        tenant: agent.tenant,
        sessionId,
        candidateId,
        runtimeId: agent.runtime.id,
        runtimeVersion,
        inputLogCursor: input.position,
      })),
    ),
  ]);
  if (inserted !== begun.length) throw new Error('an input that was not decided on yet has a candidate');
}
