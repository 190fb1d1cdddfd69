/**
 * What a webhook and a posted input have in common: the mailbox row of the principal that it came through and the input
 * itself are in one commit, and only then is anything acknowledged (F2, BR-23).
 */
import {
  type AcceptedInput,
  type AgentInput,
  acceptInput,
  foundationChannels,
  type Ingress,
} from '../foundation/index.js';
import { messageOfTransport, storeMessage } from '../home/index.js';
import type { Clock, Database, Random, Wakeups } from '../platform/index.js';
import type { Domain, JsonValue } from '../protocol/index.js';

export interface InputDoor {
  db: Database;
  clock: Clock;
  random: Random;
  wakeups: Wakeups;
  domain: { name: Domain };
}

export interface Arrived {
  ingress: Ingress;
  input: AgentInput;
  /** The exact bytes that came, and what the transport said beside them. */
  body: Uint8Array;
  contentType: string;
  facts: { [member: string]: JsonValue };
}

export async function acceptAtDoor(door: InputDoor, { ingress, input, ...arrived }: Arrived): Promise<AcceptedInput> {
  const ids = { now: door.clock.now(), random: (count: number) => door.random.bytes(count) };
  const accepted = await door.db.transact('accept input', async (tx) => {
    const accepted = await acceptInput(tx, { ingress, input, ids });
    if (accepted.duplicate) return accepted;
    const message = messageOfTransport({
      ...arrived,
      home: ingress.home,
      domain: door.domain.name,
      sender: ingress.principal,
      sourceEventId: input.source_event_id,
      type: input.type,
    });
    await storeMessage(tx, { ...message, inputId: accepted.inputId });
    return accepted;
  });
  door.wakeups.wake(foundationChannels.inputs);
  return accepted;
}
