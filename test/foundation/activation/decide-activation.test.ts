import { describe, expect, it } from 'vitest';
import { type ActivationFacts, controlVerbs, type Decision, decideActivation } from '../../../src/foundation/index.js';

const kinds = ['command', 'event', 'context', 'control'] as const;
const routes = ['target', 'subscription', 'suspension', 'control', 'none'] as const;
const states = ['none', 'idle', 'active', 'suspended'] as const;
const statuses = ['active', 'paused', 'ended'] as const;
const attentions = ['enqueue', 'steer', 'fork', 'project'] as const;
const abilities = [
  { supports_steer: true, supports_fork: true, state_portability: 'portable' },
  { supports_steer: false, supports_fork: false, state_portability: 'native' },
  { supports_steer: false, supports_fork: false, state_portability: 'portable' },
  { supports_steer: true, supports_fork: true, state_portability: 'remote' },
] as const;
const booleans = [true, false];

const every: ActivationFacts[] = kinds.flatMap((kind) =>
  routes.flatMap((route) =>
    states.flatMap((sessionState) =>
      statuses.flatMap((agentStatus) =>
        abilities.flatMap((ability) =>
          attentions.flatMap((whenActive) =>
            [undefined, ...controlVerbs].flatMap((controlVerb) =>
              booleans.flatMap((suspensionMatches) =>
                booleans.map((wakes) => ({
                  kind,
                  route,
                  sessionState,
                  agentStatus,
                  whenActive,
                  suspensionMatches,
                  wakes,
                  ...(controlVerb === undefined ? {} : { controlVerb }),
                  runtime: {
                    runtime_id: 'r',
                    runtime_version: '1',
                    supports_interrupt: true,
                    supports_native_resume: true,
                    supports_checkpoint: true,
                    suspend: 'native' as const,
                    ...ability,
                  },
                })),
              ),
            ),
          ),
        ),
      ),
    ),
  ),
);

const decisions = every.map((facts) => ({ facts, ...decideActivation(facts) }));
const where = (decision: Decision) => decisions.filter((decided) => decided.decision === decision);
const when = (test: (facts: ActivationFacts) => boolean) => decisions.filter(({ facts }) => test(facts));
const live = (facts: ActivationFacts) => facts.agentStatus !== 'ended' && facts.route !== 'none';

describe('F5: one decision per candidate, over every (kind × route × session state × agent × runtime × attention)', () => {
  it('every combination has a decision with its policy and reason, and all eight are reachable', () => {
    expect(decisions.length).toBe(every.length);
    expect(decisions.every(({ policyId, reason }) => policyId !== '' && reason !== '')).toBe(true);
    expect([...new Set(decisions.map(({ decision }) => decision))].sort()).toEqual([
      'ACTIVATE',
      'ENQUEUE',
      'FORK',
      'IGNORE',
      'INTERRUPT',
      'PROJECT',
      'RESUME',
      'STEER',
    ]);
  });

  it('what reached nobody, and what reached an ended agent, is ignored', () => {
    expect(
      new Set(when(({ route, agentStatus }) => route === 'none' || agentStatus === 'ended').map((d) => d.decision)),
    ).toEqual(new Set(['IGNORE']));
  });

  it('context only ever projects', () => {
    expect(new Set(when((facts) => live(facts) && facts.kind === 'context').map((d) => d.decision))).toEqual(
      new Set(['PROJECT']),
    );
  });

  it('F8: STEER only into an active session of a runtime that can; a runtime that cannot enqueues', () => {
    expect(where('STEER').every(({ facts }) => facts.sessionState === 'active' && facts.runtime.supports_steer)).toBe(
      true,
    );
    const asked = when(
      (f) =>
        live(f) &&
        f.sessionState === 'active' &&
        !f.runtime.supports_steer &&
        f.kind === 'control' &&
        f.controlVerb === 'steer',
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every(({ decision, reason }) => decision === 'ENQUEUE' && reason === 'steer_unsupported')).toBe(true);
  });

  it('F8: INTERRUPT comes from an authorized control alone, and only where something runs or waits', () => {
    for (const { facts } of where('INTERRUPT')) {
      expect(facts.kind).toBe('control');
      expect(['cancel', 'interrupt']).toContain(facts.controlVerb);
      expect(['active', 'suspended']).toContain(facts.sessionState);
    }
  });

  it('F8: FORK needs the fork of the runtime or portable state; without either it enqueues', () => {
    expect(
      where('FORK').every(
        ({ facts: { runtime } }) => runtime.supports_fork || runtime.state_portability === 'portable',
      ),
    ).toBe(true);
    const unable = when(
      (f) =>
        live(f) &&
        f.kind === 'control' &&
        f.controlVerb === 'fork' &&
        f.sessionState !== 'none' &&
        !f.runtime.supports_fork &&
        f.runtime.state_portability === 'native',
    );
    expect(new Set(unable.map(({ decision }) => decision))).toEqual(new Set(['ENQUEUE']));
  });

  it('RESUME needs a suspended session, and a match or a control that says so', () => {
    for (const { facts } of where('RESUME')) {
      expect(facts.sessionState).toBe('suspended');
      expect(
        facts.kind === 'control'
          ? facts.controlVerb === 'resume'
          : facts.suspensionMatches && facts.route === 'suspension',
      ).toBe(true);
    }
  });

  it('ACTIVATE never meets a session that runs or waits', () => {
    expect(where('ACTIVATE').every(({ facts }) => facts.sessionState === 'none' || facts.sessionState === 'idle')).toBe(
      true,
    );
  });

  it('F4: an event for a target that has not subscribed to it wakes nobody', () => {
    expect(new Set(when((f) => live(f) && f.kind === 'event' && f.route === 'target').map((d) => d.decision))).toEqual(
      new Set(['PROJECT']),
    );
  });

  it('F1: a control verb on anything that is not a control changes nothing', () => {
    for (const { facts, decision, reason } of when((f) => f.kind !== 'control')) {
      const { controlVerb: _, ...without } = facts;
      expect(decideActivation(without)).toMatchObject({ decision, reason });
    }
  });

  it('the same event gives different decisions in different states', () => {
    const facts = every.find(
      (f) =>
        f.kind === 'event' &&
        f.route === 'subscription' &&
        f.agentStatus === 'active' &&
        f.wakes &&
        f.whenActive === 'steer' &&
        f.runtime.supports_steer,
    );
    if (!facts) throw new Error('no such facts');
    expect(states.map((sessionState) => decideActivation({ ...facts, sessionState }).decision)).toEqual([
      'ACTIVATE',
      'ACTIVATE',
      'STEER',
      'ENQUEUE',
    ]);
  });
});
