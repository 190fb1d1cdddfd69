import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLog, createWakeups, dialledClock, runWorker, systemClock } from '../../src/platform/index.js';

const silent = createLog({ level: 'silent' });

function listeningLog() {
  const lines: { level: string; msg: string }[] = [];
  const log = createLog({ level: 'info', stream: { write: (line) => void lines.push(JSON.parse(line)) } });
  return { log, lines };
}

describe('a worker', () => {
  it('steps on while there is more, waits when idle, and wakes at once', async () => {
    const clock = systemClock();
    const wakeups = createWakeups({ clock, log: silent, instance: 'a' });
    const stop = new AbortController();
    const outcomes = ['more', 'more', 'idle', 'more', 'idle'] as const;
    let steps = 0;
    await runWorker({
      ...{ name: 'test', clock, wakeups, channel: 'work', idleMs: 60_000, log: silent, signal: stop.signal },
      async step() {
        const outcome = outcomes[steps] ?? 'idle';
        steps += 1;
        // The wake comes before the worker waits: it must not be lost.
        if (steps === 3) wakeups.wake('work');
        if (steps === 5) stop.abort();
        return outcome;
      },
    });
    expect(steps).toBe(5);
  });

  it('looks again by itself after its idle time, without any wake', async () => {
    const clock = systemClock();
    const stop = new AbortController();
    let steps = 0;
    await runWorker({
      ...{ name: 'test', clock, wakeups: createWakeups({ clock, log: silent, instance: 'a' }), channel: 'work' },
      ...{ idleMs: 5, log: silent, signal: stop.signal },
      async step() {
        steps += 1;
        if (steps === 3) stop.abort();
        return 'idle';
      },
    });
    expect(steps).toBe(3);
  });

  it('outlives faults, backs off to 2 s at most, and says each change once', async () => {
    const clock = dialledClock(new Date(0));
    const { log, lines } = listeningLog();
    const stop = new AbortController();
    const lost = Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
    const at: number[] = [];
    const running = runWorker({
      ...{ name: 'test', clock, wakeups: createWakeups({ clock, log: silent, instance: 'a' }), channel: 'work' },
      ...{ idleMs: 1, log, signal: stop.signal },
      async step() {
        at.push(clock.monotonicMs());
        if (at.length <= 7) throw lost;
        if (at.length <= 9) throw new Error('a bug');
        return 'idle';
      },
    });
    while (at.length < 11) {
      await setImmediate();
      clock.advance(50);
    }
    stop.abort();
    clock.advance(100);
    await running;
    const gaps = at.slice(1, 8).map((time, index) => time - (at[index] ?? 0));
    expect(gaps).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
      'warn: worker waits for the database',
      'error: worker step failed; it will be tried again',
      'info: worker works again',
    ]);
  });
});
