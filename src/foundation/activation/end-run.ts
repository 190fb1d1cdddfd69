/** The last event of a run and its end state, as one: nothing comes after them (F7). */
import type { Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import { type EndedRunStatus, endRun } from '../run/index.js';
import { appendRunEvents } from '../run-event/index.js';

export interface RunEnd {
  status: EndedRunStatus;
  reason: string | null;
  result?: JsonValue;
}

/** The caller has the run locked and knows that it is still running. */
export async function endRunWithEvent(tx: Tx, { home, id }: { home: string; id: string }, end: RunEnd): Promise<void> {
  const data = {
    ...(end.reason === null ? {} : { reason: end.reason }),
    ...(end.result === undefined ? {} : { result: end.result }),
  };
  await appendRunEvents(tx, { home, runId: id, events: [{ type: `run.${end.status}`, data }] });
  await endRun(tx, { home, id, ...end });
}
