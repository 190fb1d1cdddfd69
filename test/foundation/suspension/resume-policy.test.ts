// The rules of a wait against a naive reading of them, over random waits and inputs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AwaitedPart,
  type CountableInput,
  countInput,
  dueAtOf,
  neededOf,
  type ResumePolicy,
  type Wait,
} from '../../../src/foundation/suspension/index.js';

const start = Date.UTC(2026, 0, 1);
const at = (minute: number) => new Date(start + minute * 60_000);

interface Said {
  type: string;
  subject: string | undefined;
  event: number;
  order: number | undefined;
  minute: number;
}

const said: fc.Arbitrary<Said> = fc.record({
  type: fc.constantFrom('a.b', 'a.c', 'd'),
  subject: fc.constantFrom(undefined, 'x', 'y'),
  event: fc.nat(12),
  order: fc.option(fc.nat(3), { nil: undefined }),
  minute: fc.nat(60),
});

interface Awaited {
  type: string;
  subject: string | null;
  repeat: number;
  dedupe: string | null;
  endsAt: number | null;
}

const awaited: fc.Arbitrary<Awaited> = fc.record({
  type: fc.constantFrom('a.b', 'a.c', 'a.*', 'd'),
  subject: fc.constantFrom(null, 'x', 'y'),
  repeat: fc.integer({ min: 1, max: 3 }),
  dedupe: fc.constantFrom(null, '/data/order', '/subject/resource'),
  endsAt: fc.option(fc.nat(60), { nil: null }),
});

const scene = fc
  .record({
    parts: fc.array(awaited, { minLength: 1, maxLength: 5 }),
    inputs: fc.array(said, { maxLength: 30 }),
    policy: fc.constantFrom('first_match', 'all', 'any'),
    any: fc.nat(4),
    endsAt: fc.option(fc.nat(60), { nil: null }),
  })
  .map(({ any, policy, ...rest }) => {
    const resume: ResumePolicy = policy === 'any' ? { any: 1 + (any % rest.parts.length) } : (policy as 'all');
    return { ...rest, resume };
  });

function inputOf({ type, subject, event, order, minute }: Said): CountableInput {
  return {
    type,
    source: 's',
    sourceEventId: `e${event}`,
    principal: 'p',
    subject: subject === undefined ? null : { resource: subject },
    correlationId: null,
    data: order === undefined ? null : { order },
    receivedAt: at(minute),
  };
}

function waitOf(parts: readonly Awaited[], resume: ResumePolicy, endsAt: number | null): Wait {
  return {
    needed: neededOf(resume, parts.length),
    expiresAt: endsAt === null ? null : at(endsAt),
    parts: parts.map((part, index): AwaitedPart => {
      return { ...part, id: String(index), keys: [], expiresAt: part.endsAt === null ? null : at(part.endsAt) };
    }),
  };
}

/** Each subscription goes through the inputs by itself; the wait ends at the first place where enough of them are done. */
function naive({
  parts,
  inputs,
  resume,
  endsAt,
}: {
  parts: Awaited[];
  inputs: Said[];
  resume: ResumePolicy;
  endsAt: number | null;
}) {
  const doneAt = parts.map((part) => {
    const keys = new Set<string>();
    for (const [place, input] of inputs.entries()) {
      const ofType = part.type.endsWith('.*')
        ? input.type.startsWith(part.type.slice(0, -1))
        : input.type === part.type;
      const inTime = input.minute < Math.min(part.endsAt ?? 99, endsAt ?? 99);
      if (!ofType || !inTime || (part.subject !== null && part.subject !== input.subject)) continue;
      const chosen = part.dedupe === '/data/order' ? input.order : part.dedupe === null ? undefined : input.subject;
      keys.add(chosen === undefined ? `event ${input.event}` : `value ${chosen}`);
      if (keys.size === part.repeat) return place;
    }
    return Number.POSITIVE_INFINITY;
  });
  const needed = resume === 'first_match' ? 1 : resume === 'all' ? parts.length : resume.any;
  return doneAt.sort((a, b) => a - b)[needed - 1];
}

describe('F14: when a wait is over', () => {
  it('is said alike by the rules and by a naive reading of them: first_match, all, any n; once, repeat, expiry, dedupe', () => {
    fc.assert(
      fc.property(scene, ({ parts, inputs, resume, endsAt }) => {
        let wait = waitOf(parts, resume, endsAt);
        let over = Number.POSITIVE_INFINITY;
        for (const [place, input] of inputs.entries()) {
          const { wait: after, satisfied } = countInput(wait, inputOf(input));
          wait = after;
          if (satisfied) {
            over = place;
            break;
          }
        }
        expect(over).toBe(naive({ parts, inputs, resume, endsAt }));
      }),
      { seed: 14, numRuns: 3_000 },
    );
  });

  it('nothing that is received at its due time or later can satisfy it, and a minute before something still can', () => {
    fc.assert(
      fc.property(scene, ({ parts, resume, endsAt }) => {
        const wait = waitOf(parts, resume, endsAt);
        const due = dueAtOf(wait);
        // What would satisfy everything, all received in one minute.
        const tryAt = (minute: number) => {
          let now = wait;
          for (const [index, { type, subject, repeat }] of parts.entries()) {
            for (let turn = 0; turn < repeat; turn += 1) {
              const event = index * 10 + turn;
              const what = { type: type.replace('*', 'b'), subject: subject ?? undefined, event, order: event, minute };
              const said = inputOf(what);
              const counted = countInput(now, { ...said, subject: { resource: subject ?? `s${event}` } });
              now = counted.wait;
              if (counted.satisfied) return true;
            }
          }
          return false;
        };
        const distinct = parts.every(({ dedupe, repeat }) => dedupe !== '/subject/resource' || repeat === 1);
        fc.pre(distinct);
        if (due === null) expect(tryAt(10_000)).toBe(true);
        else {
          const minute = (due.getTime() - start) / 60_000;
          expect(tryAt(minute)).toBe(false);
          expect(tryAt(minute - 1)).toBe(true);
        }
      }),
      { seed: 14, numRuns: 1_000 },
    );
  });

  it('an input counts once in each subscription that it matches', () => {
    const wait = waitOf(
      [
        { type: 'a.b', subject: null, repeat: 1, dedupe: null, endsAt: null },
        { type: 'a.*', subject: 'x', repeat: 1, dedupe: null, endsAt: null },
      ],
      'all',
      null,
    );
    const { counted, satisfied } = countInput(
      wait,
      inputOf({ type: 'a.b', subject: 'x', event: 1, order: undefined, minute: 0 }),
    );
    expect({ counted: counted.length, satisfied }).toEqual({ counted: 2, satisfied: true });
  });
});
