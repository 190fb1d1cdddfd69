/**
 * A commitment as one of our principals holds it: the set of signed transitions, and what they fold to. The log is the
 * truth; the state is our domain's own assessment of it.
 *
 * States and exits are the published table in protocol/commitment-transition.ts.
 */
import {
  type Address,
  type CommitmentState,
  type CommitmentTransition,
  type CommitmentView,
  type Digest,
  digestOf,
  envelopeHeaderSchema,
  foldCommitment,
  fromUtf8,
  LIMITS,
  type PrincipalId,
  parseInteraction,
  parseStrictJson,
  type Refusal,
  refuse,
  type TransitionRefusal,
  transitionOf,
} from '../../protocol/index.js';

/** A transition as stored: the envelope that carried it, bytes as signed, with the certificate that makes it provable alone. */
export interface StoredTransition {
  position: number;
  messageId: string;
  author: Address;
  authorPrincipalId: PrincipalId;
  kind: string;
  header: Uint8Array;
  signature: string;
  body: Uint8Array;
  certificate: string;
  storedAt: Date;
}

/** More transitions than any honest promise has; a bound on what one party can make the other keep. */
export const transitionsKept = 200;

export type Admission =
  | { ok: true; view: CommitmentView; before: CommitmentView | undefined; state: CommitmentState }
  | TransitionRefusal
  | Refusal<'rate_limited'>;

/**
 * Decides whether a transition joins a log. Pure. What arrives late is judged by when it was issued, so that concurrent
 * transitions of both parties are kept in whichever order they arrive; but nothing that already has effect may lose it,
 * or a backdated refusal would undo a promise.
 */
export function admitTransition(
  log: readonly CommitmentTransition[],
  candidate: CommitmentTransition,
  now: Date,
): Admission {
  if (log.length >= transitionsKept) return refuse('rate_limited', `a commitment keeps ${transitionsKept} transitions`);
  const before = foldCommitment(log, now);
  const after = foldCommitment([...log, candidate], now);
  const refusal = after.refused.find(({ transition }) => transition.digest === candidate.digest)?.refusal;
  if (refusal) return refusal;
  const undone = before.applied.some((old) => !after.applied.some((kept) => kept.digest === old.digest));
  if (undone || !after.view) {
    return refuse('commitment_wrong_state', `${candidate.kind} would undo what already has effect`);
  }
  return { ok: true, view: after.view, before: before.view, state: after.view.state };
}

/** Reads a stored transition back from the bytes that were signed. */
export function recallTransition(stored: StoredTransition): CommitmentTransition {
  const text = fromUtf8(stored.header) ?? '';
  const header = envelopeHeaderSchema.parse(parseStrictJson(text, { maxBytes: LIMITS.envelopeHeaderBytes }));
  const read = parseInteraction({ header, body: stored.body });
  const headerDigest: Digest = digestOf(stored.header);
  const source = { header, headerDigest, senderPrincipalId: stored.authorPrincipalId };
  const transition = read.ok ? transitionOf(source, read.interaction) : undefined;
  if (!transition) throw new Error(`the stored transition ${stored.messageId} can no longer be read`);
  return transition;
}
