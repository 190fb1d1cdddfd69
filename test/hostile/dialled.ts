// Time that a test moves: the one clock function of a test database reads its offset from a row, so that connections that
// are open follow at once.
import { type Clock, type Database, followDatabaseTime, type systemClock } from '../../src/platform/index.js';

export interface Dial {
  /** Moves the database's time, and the clock that follows it. */
  by(ms: number): Promise<void>;
}

export async function makeDial(database: Database, clock: Clock): Promise<Dial> {
  await database.sql.unsafe(`
    create table public.dial (ms bigint not null);
    insert into public.dial values (0);
    create or replace function public.hearth_now() returns timestamptz language sql stable as
    $$ select statement_timestamp() + (select ms from public.dial) * interval '1 millisecond' $$;`);
  return {
    async by(ms) {
      await database.sql`update dial set ms = ms + ${ms}`;
      await followDatabaseTime(database.sql, followingOf(clock));
    },
  };
}

/** Every clock of a running domain follows its database; only the port does not say so. */
function followingOf(clock: Clock): ReturnType<typeof systemClock> {
  if (!('follow' in clock)) throw new Error('this clock follows nothing');
  return clock as ReturnType<typeof systemClock>;
}
