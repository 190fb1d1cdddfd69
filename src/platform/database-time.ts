// Follows the database's clock, which is everybody's: one look costs one statement and is good to half its round trip.
import type { FollowingClock } from './clock.js';
import type { Sql } from './database.js';

/** Answers how far, in ms, the clock was off before. Throws when the database does not answer. */
export async function followDatabaseTime(sql: Sql, clock: FollowingClock): Promise<number> {
  const askedAt = clock.monotonicMs();
  const [row] = await sql<{ now: Date }[]>`select hearth_now() as now`;
  if (!row) throw new Error('the database told no time');
  const halfRoundTripMs = (clock.monotonicMs() - askedAt) / 2;
  return clock.follow(new Date(row.now.getTime() + halfRoundTripMs));
}

/** What keeps the database from answering, in its own or the system's words; undefined when it answers. */
export async function databaseFault(sql: Sql): Promise<string | undefined> {
  try {
    await sql`select 1`;
    return undefined;
  } catch (error) {
    // The words name a user or a database, never a password.
    return error instanceof Error && error.message !== '' ? error.message : String(error);
  }
}

/** One cheap statement, for health checks. */
export async function databaseAnswers(sql: Sql): Promise<boolean> {
  return (await databaseFault(sql)) === undefined;
}
