/** Which effect a proposal means, and whether it can be stored at all. Pure. */
import { canonicalize, digestOf, type JsonValue, sha256, toBase64url, toUtf8 } from '../../protocol/index.js';
import { type ActionProposal, effectLimits } from './effect-record.js';

/** A proposal with the identity it was given. */
export interface IdentifiedProposal {
  proposal: ActionProposal;
  /** Of what is to be done: the same proposal id with another digest is another wish under a used name. */
  digest: string;
  /** Stable over every attempt and every run, so that the target can tell a repeat from a second wish. */
  idempotencyKey: string;
}

export type Identification = { ok: true; identified: IdentifiedProposal } | { ok: false; reason: string };

export function identifyProposal(proposal: ActionProposal): Identification {
  const { actor, proposalScope, proposalId, action, target, input, run } = proposal;
  if (proposalId.length === 0 || proposalId.length > effectLimits.proposalIdChars) return no('proposal_id_invalid');
  if (action.length === 0 || action.length > effectLimits.actionChars) return no('action_invalid');
  if (target.length > effectLimits.targetChars) return no('target_too_long');
  if (run && run.fence.home !== actor.home) return no('fence_of_another_home');
  const inputText = canonicalText(input);
  const identityText = canonicalText([actor.home, proposalScope, proposalId]);
  const wishText = canonicalText({ actor: actor.agent, action, target, input });
  if (inputText === undefined || identityText === undefined || wishText === undefined) return no('not_storable');
  if (toUtf8(inputText).length > effectLimits.inputBytes) return no('input_too_large');
  const digest = digestOf(toUtf8(wishText));
  const idempotencyKey = toBase64url(sha256(toUtf8(`effect\n${identityText}`)));
  return { ok: true, identified: { proposal, digest, idempotencyKey } };
}

/** A result as it can be kept: what the database cannot hold or the limit forbids is replaced by a note of what it was. */
export function boundResult(result: JsonValue): JsonValue {
  const text = canonicalText(result);
  if (text === undefined) return { omitted: 'not_storable' };
  const bytes = toUtf8(text);
  if (bytes.length <= effectLimits.resultBytes) return result;
  return { omitted: 'too_large', bytes: bytes.length, digest: digestOf(bytes) };
}

/** Text of a proposal that may be refused for its very text, so that the refusal can be written down. */
export function quotable(text: string): string {
  // Encoding replaces lone surrogates.
  const wellFormed = new TextDecoder().decode(toUtf8(text.slice(0, effectLimits.proposalIdChars)));
  return wellFormed.replaceAll('\0', '\ufffd');
}

// An escaped NUL: PostgreSQL's jsonb and text hold every character but this one.
const escapedNul = /(?:^|[^\\])(?:\\\\)*\\u0000/;

/** Canonical JSON, or undefined for what is not JSON or holds what PostgreSQL cannot. */
function canonicalText(value: unknown): string | undefined {
  try {
    const text = canonicalize(value);
    return escapedNul.test(text) ? undefined : text;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function no(reason: string): Identification {
  return { ok: false, reason };
}
