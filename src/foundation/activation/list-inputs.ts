/** The inputs that a reader may see, with what was decided on each. */
import type { Sql } from '../../platform/index.js';
import type { TimedRows } from '../timed-list/index.js';
import { type ListInputs, selectDecisions, selectInputs } from './input-listing-store.js';
import { dispositionsShown, type InputView, type Reader, viewOf } from './read-input.js';

export type ListInputsQuery = Omit<ListInputs, keyof Reader> & { caller: Reader };

export type ListedInput = InputView & { id: string };

export async function listInputs(sql: Sql, { caller, ...query }: ListInputsQuery): Promise<TimedRows<ListedInput>> {
  const found = await selectInputs(sql, { ...query, ...caller });
  if (found.kind !== 'rows') return found;
  const inputIds = found.rows.map(({ id }) => id);
  const decided = await selectDecisions(sql, { inputIds, limit: dispositionsShown + 1 });
  const rows = found.rows.map(({ atUs, ...input }) => ({
    ...viewOf(
      input,
      decided.filter(({ inputId }) => inputId === input.id),
    ),
    id: input.id,
    atUs,
  }));
  return { kind: 'rows', rows };
}
