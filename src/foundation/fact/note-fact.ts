/**
 * Writes a fact into the Input Log, in the transaction that makes it true, when anybody in the tenant waits for it or
 * listens. Who begins to wait at the same moment is served too: where he names a run or an effect by `noteEarlier`, which locks
 * it after the wait has committed, else by the lock of telling.
 */
import type { Tx } from '../../platform/index.js';
import { appendAudit } from '../audit/index.js';
import { type AcceptedInput, acceptInput, foundationSource } from '../input/index.js';
import { isAwaited, isTypeAwaited, shareTelling } from '../suspension/index.js';
import { type Fact, factLimits, foundationPrincipal } from './fact.js';
import { causeOfRun } from './store.js';

/** True when it was written; after the commit the caller wakes `foundationChannels.inputs`. */
export async function noteFact(tx: Tx, fact: Fact): Promise<boolean> {
  const { tenant, type, subject } = fact;
  await shareTelling(tx, fact);
  if (!(await isAwaited(tx, { tenant, type, subject }))) return false;
  const written = await writeFact(tx, fact);
  return written !== undefined && !written.duplicate;
}

/** Several of one tenant and type, with one look where nobody cares for any of them. */
export async function noteFacts(tx: Tx, facts: readonly Fact[]): Promise<boolean> {
  const [first] = facts;
  if (!first) return false;
  const [, awaited] = await Promise.all([shareTelling(tx, first), isTypeAwaited(tx, first)]);
  if (!awaited) return false;
  let noted = false;
  for (const fact of facts) noted = (await noteFact(tx, fact)) || noted;
  return noted;
}

/** The input that it is, also when it was written before; undefined when it is too deep to be told. */
export async function writeFact(tx: Tx, fact: Fact): Promise<AcceptedInput | undefined> {
  const { home, tenant, type, subject, key = subject, data, runId, ids } = fact;
  const cause = runId === undefined || runId === null ? undefined : await causeOfRun(tx, { home, runId });
  const depth = (cause?.depth ?? 0) + 1;
  if (depth > factLimits.depth) {
    await appendAudit(tx, {
      home,
      actor: foundationPrincipal,
      action: 'fact.note',
      object: subject,
      outcome: 'too_deep',
      details: { type, depth },
    });
    return undefined;
  }
  return acceptInput(tx, {
    ingress: {
      tenant,
      home,
      source: foundationSource,
      principal: foundationPrincipal,
      trustClass: 'trusted_fact',
      relationship: 'own',
    },
    input: {
      kind: 'event',
      type,
      source_event_id: `${foundationSource}/${type}/${key}`,
      subject: { resource: subject },
      ...(cause?.inputId === undefined ? {} : { causation_id: cause.inputId }),
      data: { ...data, depth },
    },
    ids,
  });
}
