/** Takes an authenticated, valid input into the Input Log, in the transaction of the door that answers for it (F2). */
import type { Tx } from '../../platform/index.js';
import { canonicalize, digestOf, type Mint, Problem, toUtf8 } from '../../protocol/index.js';
import { appendAudit } from '../audit/index.js';
import { newId } from '../new-id.js';
import { type AgentInput, depthOf, type Ingress, inputLimits } from './agent-input.js';
import { findBySourceEvent, type InsertInput, insertInputs } from './store.js';

export interface AcceptInput {
  ingress: Ingress;
  input: AgentInput;
  ids: Mint;
}

export interface AcceptedInput {
  inputId: string;
  /** The source had told of this event before; the first one stands. */
  duplicate: boolean;
}

/** After the commit the caller wakes `foundationChannels.inputs`. */
export async function acceptInput(tx: Tx, accept: AcceptInput): Promise<AcceptedInput> {
  const [accepted] = await acceptInputs(tx, [accept]);
  if (!accepted) throw new Error('an input was neither accepted nor refused');
  return accepted;
}

/** Several at once, answered in their order; one that is malformed refuses them all. */
export async function acceptInputs(tx: Tx, accepts: readonly AcceptInput[]): Promise<AcceptedInput[]> {
  if (accepts.length === 0) return [];
  const inserts = accepts.map(toInsert);
  const fresh = await insertInputs(tx, inserts);
  const accepted: AcceptedInput[] = [];
  for (const insert of inserts) {
    if (fresh.has(insert.id)) accepted.push({ inputId: insert.id, duplicate: false });
    else accepted.push(await firstOf(tx, insert));
  }
  return accepted;
}

function toInsert({ ingress, input, ids }: AcceptInput): InsertInput {
  if (input.kind === 'control' && !ingress.control)
    throw new Problem('forbidden', 'this caller may not control anything');
  if (input.data !== undefined && depthOf(input.data) > inputLimits.dataDepth) {
    throw new Problem('schema_invalid', `data: nested deeper than ${inputLimits.dataDepth}`);
  }
  return {
    id: newId('in', ingress.home, ids),
    ingress,
    input,
    bodyDigest: digestOf(toUtf8(canonicalize(input))),
    occurredAt: input.occurred_at === undefined ? ids.now : new Date(input.occurred_at),
  };
}

async function firstOf(tx: Tx, { ingress, input, bodyDigest }: InsertInput): Promise<AcceptedInput> {
  const first = await findBySourceEvent(tx, ingress.home, input.source_event_id);
  if (!first) throw new Error('an input is neither new nor known');
  if (first.bodyDigest !== bodyDigest) await auditOtherBody(tx, { ingress, inputId: first.id, bodyDigest });
  return { inputId: first.id, duplicate: true };
}

/** One event has one body: a second one under the same identity is kept out, and that is recorded. */
function auditOtherBody(
  tx: Tx,
  { ingress, inputId, bodyDigest }: { ingress: Ingress; inputId: string; bodyDigest: string },
) {
  return appendAudit(tx, {
    home: ingress.home,
    actor: ingress.principal,
    action: 'input.accept',
    object: inputId,
    outcome: 'source_event_reused',
    details: { body_digest: bodyDigest },
  });
}
