/** PROJECT: an input changes what an agent's environment knows, and wakes nobody. */
import type { Tx } from '../../platform/index.js';
import type { InputRecord } from '../input/index.js';
import { projectState } from './store.js';

export function projectInput(tx: Tx, home: string, input: InputRecord): Promise<number> {
  return projectState(tx, {
    home,
    resource: projectedResource(input),
    state: {
      type: input.type,
      principal: input.principal,
      occurred_at: input.occurredAt.toISOString(),
      data: input.data,
    },
    trustClass: input.trustClass,
    inputId: input.id,
  });
}

/** The subject when there is one, else the session it was meant for, else its type. */
export function projectedResource(input: Pick<InputRecord, 'subject' | 'target' | 'type'>): string {
  if (input.subject?.resource !== undefined) return input.subject.resource;
  if (input.target?.session !== undefined) return `session:${input.target.session}`;
  return `type:${input.type}`;
}
