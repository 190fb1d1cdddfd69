import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { gather } from '../../src/platform/index.js';

describe('group commit', () => {
  test('what comes while a batch is under way goes together in the next, one batch at a time, each with its own result', async () => {
    const batches: number[][] = [];
    const door = new EventEmitter();
    const join = gather({
      atOnce: 10,
      work: async (batch: readonly number[]) => {
        batches.push([...batch]);
        if (batches.length === 1) await once(door, 'opened');
        return batch.map((given) => given * 10);
      },
    });
    const first = join(1);
    await expect.poll(() => batches).toEqual([[1]]);
    const rest = [2, 3, 4].map((given) => join(given));
    door.emit('opened');
    expect(await Promise.all([first, ...rest])).toEqual([10, 20, 30, 40]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  test('a batch holds atOnce; one more waits for the next', async () => {
    const sizes: number[] = [];
    const join = gather({
      atOnce: 3,
      work: async (batch: readonly number[]) => {
        sizes.push(batch.length);
        return batch;
      },
    });
    await Promise.all([1, 2, 3, 4].map((given) => join(given)));
    expect(sizes).toEqual([3, 1]);
  });

  test('a fault is met by all of its batch and by nobody else', async () => {
    let batches = 0;
    const join = gather({
      atOnce: 2,
      work: async (batch: readonly number[]) => {
        batches += 1;
        if (batches === 1) throw new Error('spoilt');
        return batch;
      },
    });
    const ends = await Promise.allSettled([1, 2, 3].map((given) => join(given)));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
