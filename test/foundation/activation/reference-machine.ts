// What sessions, lanes, runs, waits and controls should do, as a small pure machine at rest after every step: inputs are
// decided, what can run runs, and what was to be told has been told. The decisions are the policy's own; the facts are not.
import { type ActivationFacts, decideActivation } from '../../../src/foundation/index.js';
import {
  answerType,
  begin,
  dequeue,
  endRun,
  lastRun,
  newSession,
  type RefAgent,
  type RefCandidate,
  type RefEnding,
  type RefInput,
  type RefSession,
  type RefWorld,
  requeue,
  resume,
} from './reference-session.js';

export function referenceMachine(agents: readonly RefAgent[]) {
  const worlds: RefWorld[] = agents.map((settings) => ({ settings, sessions: [], candidates: [] }));
  const log: RefInput[] = [];
  return {
    worlds,
    log,
    /** Several inputs that are decided before anything else happens. */
    send(inputs: readonly RefInput[]): void {
      for (const input of inputs) {
        log.push(input);
        for (const [index, world] of worlds.entries()) resolve({ world, log, index, at: log.length - 1 });
      }
      for (const world of worlds) rest(world, log);
    },
    end(agent: number, at: number, ending: RefEnding): void {
      const world = worlds[agent];
      const session = world?.sessions[at];
      if (!world || !session) throw new Error('no such session');
      endRun(session, ending);
      if (ending === 'suspended') {
        session.state = 'suspended';
        const run = lastRun(session);
        session.wait = { run: session.runs.length - 1, cursor: run.cursor, subject: session.subject };
        replay(world, log, at);
      } else dequeue(session);
      rest(world, log);
    },
    /** The runs that a host had are ended, and tried again by another. */
    lose(agent: number, at: number, reason: 'lease_expired' | 'host_stopping'): void {
      const world = worlds[agent];
      const session = world?.sessions[at];
      if (!world || !session) throw new Error('no such session');
      requeue(session, reason);
      rest(world, log);
    },
    passWindows(): void {
      for (const world of worlds) {
        for (const session of world.sessions) {
          for (const candidate of session.lane) candidate.held = false;
          if (session.laneHeld) dequeue(session);
        }
        rest(world, log);
      }
    },
  };
}

interface Resolving {
  world: RefWorld;
  log: readonly RefInput[];
  index: number;
  at: number;
}

interface Seed {
  route: ActivationFacts['route'];
  session: number | undefined;
}

function resolve({ world, log, index, at }: Resolving): void {
  const input = log[at];
  if (!input) throw new Error('no such input');
  for (const seed of seedsOf(world, index, input)) {
    const { session: where, route } = seed;
    const session = where === undefined ? undefined : world.sessions[where];
    if (where !== undefined && reached(world, at, where)) continue;
    const facts: ActivationFacts = {
      kind: input.kind,
      route,
      sessionState: stateFor(session, input),
      agentStatus: 'active',
      runtime: world.settings.runtime,
      whenActive: world.settings.whenActive,
      ...(input.control === undefined ? {} : { controlVerb: input.control.verb }),
      suspensionMatches: route === 'suspension' && session?.wait !== undefined,
      wakes: !input.historical,
      laneHeld: session?.laneHeld === true,
    };
    const { decision, reason } = decideActivation(facts);
    apply(world, { input, at, route, decision, reason, where });
  }
}

function seedsOf(world: RefWorld, index: number, input: RefInput): Seed[] {
  if (input.control) return input.agent === index ? [{ route: 'control', session: input.control.session }] : [];
  const keyed = world.sessions.findIndex(({ key }) => key !== undefined && key === input.subject);
  const session = keyed === -1 ? undefined : keyed;
  const waiting =
    input.kind === 'context' || input.type !== answerType
      ? []
      : world.sessions.flatMap(({ wait }, at) =>
          wait && wait.subject !== undefined && wait.subject === input.subject
            ? [{ route: 'suspension' as const, session: at }]
            : [],
        );
  const listens = input.kind !== 'command' && input.subject !== undefined;
  if (listens) return [...waiting, { route: 'subscription', session }];
  return input.kind !== 'event' && input.agent === index ? [...waiting, { route: 'target', session }] : waiting;
}

function stateFor(session: RefSession | undefined, { control }: RefInput): ActivationFacts['sessionState'] {
  if (!session) return 'none';
  const { run } = control ?? {};
  const live = session.state === 'active' ? session.runs.length - 1 : session.wait?.run;
  return run === undefined || run === live ? session.state : 'idle';
}

function reached(world: RefWorld, input: number, session: number): boolean {
  return world.candidates.some((c) => c.input === input && c.session === session && c.decision !== 'IGNORE');
}

interface Applying {
  input: RefInput;
  at: number;
  route: ActivationFacts['route'];
  decision: string;
  reason: string;
  where: number | undefined;
}

function apply(world: RefWorld, { input, at, route, decision, reason, where }: Applying): void {
  const rank = world.settings.laneOrder === 'arrival' ? 0 : rankOf(input);
  const made = { input: at, route, decision, reason, rank, mergeKey: undefined, held: false };
  const candidate: RefCandidate = { ...made, status: 'settled', session: where, run: undefined };
  world.candidates.push(candidate);
  if (decision === 'IGNORE' || decision === 'PROJECT') return;
  if (decision === 'FORK' || where === undefined) {
    candidate.session = world.sessions.length;
    const subject = decision === 'FORK' && where !== undefined ? world.sessions[where]?.subject : input.subject;
    world.sessions.push(newSession(decision === 'FORK' ? undefined : input.subject, subject));
  }
  const session = world.sessions[candidate.session ?? -1];
  if (!session) throw new Error('no such session');
  switch (decision) {
    case 'ACTIVATE':
    case 'FORK':
      begin(session, [candidate], { cursor: at });
      break;
    case 'ENQUEUE':
      enqueue(session, candidate, world.settings.merges && input.kind === 'event' ? input : undefined);
      break;
    case 'RESUME':
      resume(session, candidate);
      break;
    case 'STEER':
      Object.assign(candidate, { status: 'running', run: session.runs.length - 1 });
      lastRun(session).told.push({ candidate, taken: false });
      break;
    case 'INTERRUPT':
      interrupt(session, candidate);
      break;
  }
}

function enqueue(session: RefSession, candidate: RefCandidate, merging: RefInput | undefined): void {
  candidate.status = 'queued';
  if (merging) {
    candidate.mergeKey = `${merging.type} ${merging.subject ?? ''}`;
    candidate.held = true;
  }
  session.lane.push(candidate);
  if (session.state === 'idle') dequeue(session);
}

function interrupt(session: RefSession, candidate: RefCandidate): void {
  candidate.status = 'consumed';
  if (session.state === 'suspended') {
    session.wait = undefined;
    dequeue(session);
    return;
  }
  candidate.run = session.runs.length - 1;
  if (lastRun(session).queued) {
    endRun(session, 'cancelled');
    dequeue(session);
    return;
  }
  lastRun(session).cancelWanted = true;
}

function rankOf({ priority, kind }: RefInput): number {
  return { urgent: 0, normal: 3, bulk: 6 }[priority] + { control: 0, command: 1, event: 2, context: 2 }[kind];
}

/** The first in the log that a new wait wants and its session has not taken. */
function replay(world: RefWorld, log: readonly RefInput[], at: number): void {
  const session = world.sessions[at];
  const wait = session?.wait;
  if (!session || wait?.subject === undefined) return;
  const found = log.findIndex(
    (input, position) =>
      position > wait.cursor &&
      (input.kind === 'command' || input.kind === 'event') &&
      input.type === answerType &&
      input.subject === wait.subject &&
      !input.historical &&
      !world.candidates.some(
        (c) => c.input === position && c.session === at && ['running', 'consumed', 'failed'].includes(c.status),
      ),
  );
  if (found === -1) return;
  const made = { input: found, route: 'suspension' as const, decision: 'RESUME', reason: 'suspension_matched' };
  const candidate = { ...made, rank: 0, mergeKey: undefined, held: false, status: '', session: at, run: undefined };
  world.candidates.push(candidate);
  resume(session, candidate);
}

/** Runs that are to end do, and runs that go on are told what they have to be told. */
function rest(world: RefWorld, log: readonly RefInput[]): void {
  for (const session of world.sessions) {
    while (session.state === 'active') {
      const run = lastRun(session);
      if (run.cancelWanted) {
        // Told before it began or while it ended, it took what it would have taken.
        endRun(session, 'cancelled');
        dequeue(session);
        continue;
      }
      run.queued = false;
      for (const telling of run.told) {
        if (telling.taken || log[telling.candidate.input]?.refused) continue;
        telling.taken = true;
        telling.candidate.status = 'consumed';
      }
      break;
    }
  }
}
