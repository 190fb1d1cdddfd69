/** What happened in a run, in order: append-only, numbered from 1 without holes, readable by cursor (F11). */
import type { JsonObject } from '../../protocol/index.js';

export interface NewRunEvent {
  type: string;
  data: JsonObject;
}

export interface RunEvent extends NewRunEvent {
  seq: number;
  at: Date;
}

/** Who waits for new events of a run waits on this channel; whoever appends wakes it after the commit. */
export function runChannel(runId: string): string {
  return `run:${runId}`;
}
