import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWakeups, systemClock } from '../../src/platform/index.js';
import { createTestDatabase, openTestDatabase, type TestDatabase, testLog } from '../support/database.js';

const clock = systemClock();
const log = testLog();

describe('wakeups', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await createTestDatabase({ empty: true });
  });
  afterAll(() => test.drop());

  it('end a wait in the same process at once, by time alone, and by the signal', async () => {
    const wakeups = createWakeups({ clock, log, instance: 'alone' });
    const waiting = wakeups.wait('a', 60_000);
    wakeups.wake('b');
    wakeups.wake('a');
    await waiting;
    await wakeups.wait('a', 1);
    await wakeups.wait('a', 60_000, AbortSignal.abort());
    await wakeups.close();
  });

  it('reach other processes on the database, many wakes in few notices', async () => {
    const other = openTestDatabase(test.target);
    const [here, there] = [
      createWakeups({ clock, log, database: test.database, instance: 'here' }),
      createWakeups({ clock, log, database: other, instance: 'there' }),
    ];
    let notices = 0;
    const spy = await other.listen('hearth_wake', () => {
      notices += 1;
    });
    // The first one may be before the other listens; who listens late looks by itself, so ask until it is heard.
    const stop = new AbortController();
    const heard = there.wait('work', 30_000).then(() => stop.abort());
    while (!stop.signal.aborted) {
      here.wake('work');
      await clock.sleep(5, stop.signal);
    }
    await heard;
    notices = 0;
    const again = there.wait('work', 30_000);
    for (let i = 0; i < 1_000; i += 1) here.wake('work');
    await again;
    expect(notices).toBeLessThan(10);
    await spy.unlisten();
    await Promise.all([here.close(), there.close()]);
    await other.close();
  });

  it('wake everybody when listening begins again, since notices in between are lost', async () => {
    const other = openTestDatabase(test.target);
    const wakeups = createWakeups({ clock, log, database: other, instance: 'x' });
    await wakeups.wait('warm-up', 200);
    const waiting = wakeups.wait('work', 30_000);
    await test.database.sql`
      select pg_terminate_backend(pid)
        from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`;
    await waiting;
    await wakeups.close();
    await other.close();
  });
});
