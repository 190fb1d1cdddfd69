/**
 * Lists sorted by time, the newest first, read in both directions from the place of a row. A place is instant and id, so
 * that rows of one instant are told apart (BR-36); a place outside what is kept is an answer of its own (BR-38).
 */

/** Instants in microseconds, as PostgreSQL has them: a `Date` would lose what tells two rows apart. */
export interface TimedPlace {
  atUs: number;
  id: string;
}

export interface TimedRange {
  from?: (TimedPlace & { inclusive?: boolean }) | undefined;
  /** Towards what is newer. */
  backwards?: boolean;
  limit: number;
}

export type Placed<Row> = Row & { atUs: number };

export type TimedRows<Row> =
  /** The newest first, in either direction. */
  { kind: 'rows'; rows: Placed<Row>[] } | { kind: 'ahead' } | { kind: 'gap'; oldest: TimedPlace | undefined };

/** What a list holds at its ends, and whether the row of a place is still in it. */
export interface Edges {
  kept: boolean;
  oldest: TimedPlace | undefined;
  newest: TimedPlace | undefined;
}

export interface ReadTimed<Row> {
  range: TimedRange;
  edges: (from: TimedPlace) => Promise<Edges>;
  /** Rows in the order of the reading. */
  rows: () => Promise<readonly Placed<Row>[]>;
}

export async function readTimed<Row>({ range, edges, rows }: ReadTimed<Row>): Promise<TimedRows<Row>> {
  const fault = range.from && faultOf(range.from, await edges(range.from));
  if (fault) return fault;
  const read = [...(await rows())];
  return { kind: 'rows', rows: range.backwards ? read.reverse() : read };
}

/** A row that is gone from the middle, by whatever way, leaves its place usable. */
function faultOf(
  from: TimedPlace,
  { kept, oldest, newest }: Edges,
): Exclude<TimedRows<never>, { kind: 'rows' }> | undefined {
  if (kept) return undefined;
  if (!oldest || isBefore(from, oldest)) return { kind: 'gap', oldest };
  return newest && isBefore(newest, from) ? { kind: 'ahead' } : undefined;
}

function isBefore(one: TimedPlace, other: TimedPlace): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.id < other.id);
}
