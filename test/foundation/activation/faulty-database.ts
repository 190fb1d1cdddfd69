// A database whose transactions fail at a chosen name and occurrence, once: before the commit, so that nothing happened, or
// after it, so that it did happen and nobody was told.
import type { Database } from '../../../src/platform/index.js';

export interface Fault {
  name: string;
  /** Of the transactions of that name, from 1. */
  occurrence: number;
  moment: 'before' | 'after';
}

class Injected extends Error {
  override readonly name = 'Injected';
}

export interface FaultyDatabase {
  database: Database;
  /** Every transaction that began, in order. */
  names: string[];
  /** Whether the fault has struck. */
  struck(): boolean;
}

export function faultyDatabase(db: Database, fault?: Fault): FaultyDatabase {
  const names: string[] = [];
  let struck = false;
  const database: Database = {
    ...db,
    async transact(name, work, options) {
      names.push(name);
      const strikes =
        !struck && name === fault?.name && names.filter((each) => each === name).length >= fault.occurrence;
      if (!strikes) return db.transact(name, work, options);
      struck = true;
      const result = await db.transact(
        name,
        async (tx) => {
          const worked = await work(tx);
          if (fault.moment === 'before') throw new Injected(name);
          return worked;
        },
        options,
      );
      if (fault.moment === 'after') throw new Injected(name);
      return result;
    },
  };
  return { database, names, struck: () => struck };
}
