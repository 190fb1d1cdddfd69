/**
 * What a webhook and a posted input have in common: the mailbox row of the principal that it came through and the input
 * itself are in one commit, and only then is anything acknowledged (F2, BR-23). What arrives at the same time shares a
 * commit; a fault in one of them costs the others only time.
 */
import {
  type AcceptedInput,
  type AgentInput,
  acceptInputs,
  foundationChannels,
  type Ingress,
} from '../foundation/index.js';
import { knownMessages, messageOfTransport, storeNewMessages } from '../home/index.js';
import { type Clock, type Database, gather, type Random, type Wakeups } from '../platform/index.js';
import type { Domain, JsonValue } from '../protocol/index.js';

export interface InputDoorParts {
  db: Database;
  clock: Clock;
  random: Random;
  wakeups: Wakeups;
  domain: { name: Domain };
}

export interface InputDoor {
  domain: { name: Domain };
  random: Random;
  /** Resolves once the input is durable. */
  accept(arrived: Arrived): Promise<AcceptedInput>;
}

interface Arrived {
  ingress: Ingress;
  input: AgentInput;
  /** The exact bytes that came, and what the transport said beside them. */
  body: Uint8Array;
  contentType: string;
  facts: { [member: string]: JsonValue };
}

const atOnce = 32;

export function openInputDoor(parts: InputDoorParts): InputDoor {
  const join = gather({ atOnce, work: (arrived: readonly Arrived[]) => acceptOrNone(parts, arrived) });
  return {
    domain: parts.domain,
    random: parts.random,
    async accept(arrived) {
      const accepted = (await join(arrived)) ?? (await acceptAll(parts, [arrived]))[0];
      if (!accepted) throw new Error('an input was neither accepted nor refused');
      parts.wakeups.wake(foundationChannels.inputs);
      return accepted;
    },
  };
}

async function acceptOrNone(
  parts: InputDoorParts,
  arrived: readonly Arrived[],
): Promise<(AcceptedInput | undefined)[]> {
  const accepted = await acceptAll(parts, arrived).catch(() => undefined);
  return arrived.map((_, place) => accepted?.[place]);
}

function acceptAll(parts: InputDoorParts, arrived: readonly Arrived[]): Promise<AcceptedInput[]> {
  const ids = { now: parts.clock.now(), random: (count: number) => parts.random.bytes(count) };
  return parts.db.transact('accept-input', async (tx) => {
    const accepted = await acceptInputs(
      tx,
      arrived.map(({ ingress, input }) => ({ ingress, input, ids })),
    );
    const fresh = arrived.flatMap((each, place) => {
      const own = accepted[place];
      return own && !own.duplicate ? [{ ...messageFor(parts, each), inputId: own.inputId }] : [];
    });
    const known = await knownMessages(tx, fresh);
    await storeNewMessages(
      tx,
      fresh.filter((_, place) => !known.has(place)),
    );
    return accepted;
  });
}

function messageFor({ domain }: InputDoorParts, { ingress, input, ...arrived }: Arrived) {
  return messageOfTransport({
    ...arrived,
    home: ingress.home,
    domain: domain.name,
    sender: ingress.principal,
    sourceEventId: input.source_event_id,
    type: input.type,
  });
}
