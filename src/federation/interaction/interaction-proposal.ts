/**
 * What an agent or a person may ask to have sent: the action `interaction.{type}` with the recipient's address as target.
 * They give what they mean; ids, digests, links and bindings are filled in from the records, so that nobody signs a
 * binding that was typed in.
 */
import { z } from 'zod';
import type { ActionProposal } from '../../foundation/index.js';
import {
  type Address,
  describeIssues,
  idSchema,
  isAddress,
  type JsonValue,
  LIMITS,
  parseAddress,
  proposalSchema,
  type Refusal,
  refuse,
} from '../../protocol/index.js';

export const defaultLifetimeS = 86_400;
const actionPrefix = 'interaction.';

const text = z.string().min(1).max(LIMITS.textBytes);
const jsonObject = z.record(
  z.string(),
  z.custom<JsonValue>((value) => value !== undefined),
);

/** Members that every interaction may have. */
const common = {
  conversation_id: idSchema('conv').optional(),
  in_reply_to: idSchema('msg').optional(),
  correlation_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'not printable ASCII')
    .optional(),
  expires_in_s: z
    .int()
    .min(60)
    .max(LIMITS.envelopeLifetimeMs / 1000)
    .optional(),
};

const evidence = z.strictObject({
  name: z.string().min(1).max(LIMITS.shortTextChars),
  content_type: z.string().min(3).max(127).optional(),
  /** The digest of the content is computed here; give it only for what does not travel along. */
  content: z.string().optional(),
  digest: z.string().optional(),
});

const schemas = {
  message: z.strictObject({ ...common, text, data: jsonObject.optional() }),
  request: z.strictObject({
    ...common,
    proposal_id: idSchema('prop').optional(),
    commitment_id: idSchema('cmt').optional(),
    ...proposalSchema.omit({ proposal_id: true, commitment_id: true, version: true }).shape,
    version: proposalSchema.shape.version.optional(),
    /** For who has no clock: the deadline, counted from when it is signed. */
    deadline_in_s: z
      .int()
      .min(1)
      .max(366 * 86_400)
      .optional(),
  }),
  accept: z.strictObject({
    ...common,
    commitment_id: idSchema('cmt'),
    accepts: z.enum(['proposal', 'report']).optional(),
    report_message_id: idSchema('msg').optional(),
  }),
  reject: z.strictObject({
    ...common,
    commitment_id: idSchema('cmt'),
    reason: z.string().max(LIMITS.shortTextChars).optional(),
  }),
  report: z.strictObject({
    ...common,
    commitment_id: idSchema('cmt'),
    summary: text,
    evidence: z.array(evidence).max(LIMITS.evidenceItems).optional(),
  }),
};

export type ProposedInteraction = {
  [Type in keyof typeof schemas]: { type: Type; recipient: Address; input: z.infer<(typeof schemas)[Type]> };
}[keyof typeof schemas];

export type EvidenceInput = z.infer<typeof evidence>;

export function readProposal(
  proposal: ActionProposal,
): { ok: true; proposed: ProposedInteraction } | Refusal<'proposal_invalid'> {
  const type = proposal.action.startsWith(actionPrefix) ? proposal.action.slice(actionPrefix.length) : '';
  if (!isSendable(type)) return refuse('proposal_invalid', `${proposal.action} is no interaction that can be sent`);
  const recipient = proposal.target;
  if (!isAddress(recipient))
    return refuse('proposal_invalid', 'the target of an interaction is the address of its recipient');
  if (parseAddress(proposal.actor.agent)?.address === recipient) {
    return refuse('proposal_invalid', 'nobody sends an interaction to itself');
  }
  return readAs(type, recipient, proposal.input);
}

function readAs(
  type: ProposedInteraction['type'],
  recipient: Address,
  input: unknown,
): { ok: true; proposed: ProposedInteraction } | Refusal<'proposal_invalid'> {
  const read = schemas[type].safeParse(input);
  if (!read.success) return refuse('proposal_invalid', describeIssues(read.error));
  // The schema was chosen by the type, which the compiler cannot see through the look-up.
  return { ok: true, proposed: { type, recipient, input: read.data } as ProposedInteraction };
}

function isSendable(type: string): type is ProposedInteraction['type'] {
  return Object.hasOwn(schemas, type);
}
