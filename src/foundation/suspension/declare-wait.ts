/** F14: checkpoint, wait, subscriptions and cursor, in the commit that ends the run. The caller has the session locked. */
import type { Tx } from '../../platform/index.js';
import type { JsonValue, Mint } from '../../protocol/index.js';
import { newId } from '../new-id.js';
import { dueAtOf, neededOf } from './resume-policy.js';
import { insertRuntimeState, insertSubscription, insertSuspension } from './store.js';
import { instantOf, type WaitTerms } from './suspension.js';

export interface DeclareWait {
  run: {
    home: string;
    id: string;
    tenant: string;
    sessionId: string;
    runtimeId: string;
    runtimeVersion: string;
    inputLogCursor: number;
  };
  /** Checked by `faultOfWait`. */
  request: WaitTerms & { reason: string; runtimeState: JsonValue };
  mint: Mint;
}

/** Answers the id of the suspension, which names its checkpoint too. */
export async function declareWait(tx: Tx, { run, request, mint }: DeclareWait): Promise<string> {
  const { home, tenant, sessionId, runtimeId, runtimeVersion, inputLogCursor } = run;
  const { resumePolicy, subscriptions } = request;
  const id = newId('sus', home, mint);
  const owner = { home, sessionId, runtimeId, runtimeVersion };
  await insertRuntimeState(tx, { ...owner, ref: id, state: request.runtimeState });
  const expiresAt = instantOf(request.expires, mint.now);
  const needed = neededOf(resumePolicy, subscriptions.length);
  const parts = subscriptions.map(({ expires, ...wanted }) => ({
    ...wanted,
    id: newId('sub', home, mint),
    expiresAt: instantOf(expires, mint.now),
  }));
  const unmet = parts.map(({ id: partId, type, expiresAt: partEnds }) => {
    return { id: partId, type, subject: null, repeat: 1, dedupe: null, expiresAt: partEnds, keys: [] };
  });
  await insertSuspension(tx, {
    ...owner,
    id,
    tenant,
    runId: run.id,
    reason: request.reason,
    runtimeStateRef: id,
    inputLogCursor,
    resumePolicy: typeof resumePolicy === 'object' ? 'any' : resumePolicy,
    needed,
    expiresAt,
    dueAt: dueAtOf({ needed, expiresAt, parts: unmet }),
  });
  for (const part of parts) {
    await insertSubscription(tx, { home, tenant, sessionId, suspensionId: id, owner: 'suspension', ...part });
  }
  return id;
}
