/**
 * A session: the private execution continuity of one agent. `idle` (nothing runs) → `active` (one live run) → `idle` or
 * `suspended` (a run has declared a wait) → `active` by its continuation. Queued candidates beside it are its lane.
 */
import type { InputRecord } from '../input/index.js';

export type SessionState = 'idle' | 'active' | 'suspended';

export interface SessionRecord {
  home: string;
  id: string;
  tenant: string;
  agent: string;
  state: SessionState;
  runtimeId: string;
  runtimeVersion: string;
  runtimeStateRef: string | null;
  activeRunId: string | null;
  forkedFromSessionId: string | null;
  /** While idle with queued work that is held for more to be merged with it: when it may start. */
  laneDueAt: Date | null;
  /** How many runs in a row began before the oldest of the lane. */
  laneOvertakes: number;
}

/** What leads an input to a session, in this order: the first key that is known decides. */
export function sessionKeysOf(
  input: Pick<InputRecord, 'type' | 'target' | 'subject' | 'correlationId' | 'data'>,
): string[] {
  const conversation = input.target?.conversation_id ?? interactionConversation(input);
  return [
    ...(conversation === undefined ? [] : [conversationKey(conversation)]),
    ...(input.subject?.resource === undefined ? [] : [subjectKey(input.subject.resource)]),
    ...(input.correlationId === null ? [] : [correlationKey(input.correlationId)]),
  ];
}

export function conversationKey(conversationId: string): string {
  return `conversation:${conversationId}`;
}

export function subjectKey(resource: string): string {
  return `subject:${resource}`;
}

function correlationKey(correlationId: string): string {
  return `correlation:${correlationId}`;
}

/** Interactions come from the domain's own gateway alone, so the conversation that they name is a verified fact. */
export function interactionConversation(input: Pick<InputRecord, 'type' | 'data'>): string | undefined {
  if (!input.type.startsWith('interaction.')) return undefined;
  const { data } = input;
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return undefined;
  const conversation = data.conversation_id;
  return typeof conversation === 'string' && conversation !== '' ? conversation : undefined;
}
