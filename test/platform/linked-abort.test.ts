import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createWakeups, linkedAbort, systemClock } from '../../src/platform/index.js';
import { testLog } from '../support/database.js';

describe('a linked signal', () => {
  it('aborts with the other one, also when that has aborted before, and by itself', () => {
    const stop = new AbortController();
    const [linked, alone] = [linkedAbort(stop.signal), linkedAbort(undefined)];
    expect(linked.signal.aborted).toBe(false);
    stop.abort();
    alone.abort();
    expect([linked, linkedAbort(stop.signal), alone].map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  });

  it('leaves nothing at the signal of a loop, however often that waits beside it', async () => {
    const wakeups = createWakeups({ clock: systemClock(), log: testLog(), instance: 'loop' });
    const stop = new AbortController();
    const watch = wakeups.watch('work');
    for (let n = 0; n < 100; n += 1) {
      const waiting = watch.wait(60_000, stop.signal);
      wakeups.wake('work');
      await waiting;
    }
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    // A combined signal would not show as a listener: it is held by the signal itself, for as long as that lives.
    const key = Object.getOwnPropertySymbols(stop.signal).find(
      ({ description }) => description === 'kDependantSignals',
    );
    const combined: unknown = key && Reflect.get(stop.signal, key);
    expect(combined === undefined || combined === null || Reflect.get(Object(combined), 'size') === 0).toBe(true);
    watch.close();
    await wakeups.close();
  });
});
