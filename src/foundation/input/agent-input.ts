/**
 * `agent-input/1`: the only way in (F1). A producer says what happened; who it is, its tenant, how far it is trusted and
 * whether it may control anything come from the authenticated connection and are never read from what it sent.
 */
import { z } from 'zod';
import { isWellFormed, type JsonValue, LIMITS, Problem } from '../../protocol/index.js';

export const inputLimits = {
  typeChars: 128,
  typeSegments: 8,
  idChars: 256,
  resourceChars: LIMITS.shortTextChars,
  /** Nothing that arrives by a door is larger; what a runtime sees of it is bounded by the context budget. */
  dataBytes: 5 * 1024 * 1024,
  /** Deeper data could not be wrapped in a context bundle any more. */
  dataDepth: 24,
  /** Inputs numbered, and inputs resolved, in one transaction. */
  sequenceBatch: 200,
  resolveBatch: 50,
} as const;

const inputKinds = ['command', 'event', 'context', 'control'] as const;
export type InputKind = (typeof inputKinds)[number];

export type TrustClass = 'instruction' | 'trusted_fact' | 'untrusted_content' | 'historical_evidence';

export const controlVerbs = ['cancel', 'interrupt', 'steer', 'resume', 'fork'] as const;
export type ControlVerb = (typeof controlVerbs)[number];

/** What the Foundation tells of itself, and what its schedules make, come from here; no door takes these from anybody. */
export const foundationSource = 'hearth://foundation';
export const scheduleSource = 'hearth://schedule';

/** Types that only the domain itself may produce: a forged one could pretend to be a peer's verified interaction. */
const reservedTypes =
  /^(interaction|receipt|delivery|timer|schedule|heartbeat|deadline|lease|commitment|run|suspension|effect|message|approval)\./;
const typePattern = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

const shortText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => isWellFormed(text) && !text.includes('\u0000'), 'holds a character that no text may hold');

const inputType = z
  .string()
  .max(inputLimits.typeChars)
  .regex(typePattern)
  .refine((type) => type.split('.').length <= inputLimits.typeSegments, 'has too many segments');

/** In UTC, which a written year near either end can miss: PostgreSQL knows no year 0, and our instants have four digits. */
function isStorableInstant(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && /^(?!0000)[0-9]{4}-/.test(date.toISOString());
}

/** Members that are not listed here, such as `principal` or `trust`, are dropped. */
export const agentInputSchema = z.object({
  schema: z.literal('agent-input/1').optional(),
  kind: z.enum(inputKinds),
  type: inputType,
  source_event_id: shortText(inputLimits.idChars),
  subject: z
    .object({
      environment_id: shortText(inputLimits.idChars).optional(),
      resource: shortText(inputLimits.resourceChars).optional(),
    })
    .optional(),
  target: z
    .object({
      agent: shortText(LIMITS.addressBytes).optional(),
      session: shortText(LIMITS.identifierBytes).optional(),
      run: shortText(LIMITS.identifierBytes).optional(),
      conversation_id: shortText(LIMITS.identifierBytes).optional(),
    })
    .optional(),
  occurred_at: z.iso.datetime({ offset: true }).refine(isStorableInstant, 'not within the years 1 to 9999').optional(),
  correlation_id: shortText(inputLimits.idChars).optional(),
  causation_id: shortText(inputLimits.idChars).optional(),
  idempotency_key: shortText(inputLimits.idChars).optional(),
  data_content_type: shortText(inputLimits.typeChars).optional(),
  data: z.custom<JsonValue>(() => true).optional(),
});

export type AgentInput = z.infer<typeof agentInputSchema>;

/** How soon queued work of an input is done, where an agent's lane goes by priority. */
export type InputPriority = 'urgent' | 'normal' | 'bulk';

/** Whether who sent an input is of this domain, known to it, or neither. */
export type Relationship = 'own' | 'known' | 'stranger';

/** What the authenticated connection says about an input. The door sets it; nothing in the input can. */
export interface Ingress {
  tenant: string;
  /** The mailbox it came through. */
  home: string;
  source: string;
  principal: string;
  trustClass: TrustClass;
  /** Default: normal. */
  priority?: InputPriority;
  /** Default: known. */
  relationship?: Relationship;
  /** When it is too late for what this is about. Default: nobody knows. */
  dueAt?: Date;
  /** Present only when the caller may control the target: the door has checked it. */
  control?: { verb: ControlVerb; authority: string };
}

/** Reads what a producer sent, already parsed as strict JSON. Throws `Problem('schema_invalid')` that names the member. */
export function parseAgentInput(value: unknown): AgentInput {
  const parsed = agentInputSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Problem('schema_invalid', `${issue?.path.join('.') || 'the input'}: ${issue?.message ?? 'is malformed'}`);
  }
  if (reservedTypes.test(parsed.data.type)) {
    throw new Problem('schema_invalid', `type: ${parsed.data.type} is produced by the domain itself`);
  }
  return parsed.data;
}

/** True for a type, or a type prefix that ends in `.*`. */
export function isTypePattern(text: string): boolean {
  const type = text.endsWith('.*') ? text.slice(0, -2) : text;
  return inputType.safeParse(type).success;
}

export function depthOf(value: JsonValue): number {
  let depth = 0;
  let level: JsonValue[] = [value];
  while (level.length > 0) {
    const next = level.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []));
    if (level.some((item) => item !== null && typeof item === 'object')) depth += 1;
    level = next;
  }
  return depth;
}
