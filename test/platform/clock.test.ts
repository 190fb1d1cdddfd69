import { afterEach, describe, expect, it, vi } from 'vitest';
import { dialledClock, seededRandom, systemClock, systemRandom } from '../../src/platform/index.js';

describe('the system clock', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('follows the database and says how far it was off', () => {
    const clock = systemClock();
    const database = new Date(Date.now() + 3_600_000);
    expect(Math.abs(clock.follow(database) - 3_600_000)).toBeLessThan(1_000);
    expect(Math.abs(clock.now().getTime() - database.getTime())).toBeLessThan(1_000);
    expect(Math.abs(clock.follow(clock.now()))).toBeLessThan(50);
  });

  it('does not move when the wall clock of the machine steps', () => {
    const clock = systemClock();
    const before = clock.now().getTime();
    vi.spyOn(Date, 'now').mockReturnValue(before + 86_400_000);
    expect(clock.now().getTime() - before).toBeLessThan(1_000);
  });

  it('ends a sleep at once when its signal aborts, before or during', async () => {
    const clock = systemClock();
    await clock.sleep(60_000, AbortSignal.abort());
    const controller = new AbortController();
    const slept = clock.sleep(60_000, controller.signal);
    controller.abort();
    await slept;
  });

  it('does not fire a timer early because it is longer than the platform can set', async () => {
    const clock = systemClock();
    let fired = false;
    const timer = clock.timer(2 ** 40, () => {
      fired = true;
    });
    await clock.sleep(5);
    timer.cancel();
    expect(fired).toBe(false);
  });
});

describe('the dialled clock', () => {
  it('stands still until advanced and runs what falls due in order, also what is set on the way', () => {
    const clock = dialledClock(new Date(0));
    const ran: string[] = [];
    clock.timer(20, () => ran.push('second'));
    clock.timer(10, () => {
      ran.push(`first at ${clock.now().getTime()}`);
      clock.timer(5, () => ran.push('between'));
    });
    clock.timer(30, () => ran.push('never')).cancel();
    expect(ran).toEqual([]);
    clock.advance(100);
    expect(ran).toEqual(['first at 10', 'between', 'second']);
    expect(clock.monotonicMs()).toBe(100);
  });
});

describe('chance', () => {
  it('with a seed is the same each time, and differs by seed', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed);
      return [...random.bytes(50), random.uniform(0, 1)];
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('stays within [min, max)', () => {
    for (const random of [systemRandom(), seededRandom(7)]) {
      const drawn = Array.from({ length: 2_000 }, () => random.uniform(-2, 3));
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(-2);
      expect(Math.max(...drawn)).toBeLessThan(3);
      expect(Math.max(...drawn) - Math.min(...drawn)).toBeGreaterThan(4.5);
    }
  });
});
