/**
 * The program of a scripted agent: rules by input type, each a straight list of steps. It has no loops and no clock, so the
 * same inputs and answers give the same run; demonstrations and tests stand on it where no model is at hand.
 */
import { z } from 'zod';
import { suspensionLimits } from '../../foundation/index.js';
import { canonicalize, digestOf, type JsonObject, type JsonValue, Problem, toUtf8 } from '../../protocol/index.js';

export const scriptLimits = {
  bytes: 64 * 1024,
  rules: 64,
  steps: 64,
  until: 16,
  nameChars: 64,
  textChars: 2_048,
  repeat: suspensionLimits.inputs,
} as const;

const value = z.custom<JsonValue>((given) => given !== undefined, 'is missing');
const text = z.string().min(1).max(scriptLimits.textChars);
const name = z
  .string()
  .max(scriptLimits.nameChars)
  .regex(/^[a-z][a-z0-9_-]*$/);
/** Text, or a reference to text. */
const textValue = z.union([text, z.strictObject({ $ref: text })]);

const expires = z.union([
  z.strictObject({ at: textValue }),
  z.strictObject({ in_ms: z.number().int().min(0).max(suspensionLimits.expiresInMs) }),
]);

const awaited = z.strictObject({
  type: text,
  subject: textValue.optional(),
  repeat: z.number().int().min(1).max(scriptLimits.repeat).optional(),
  expires: expires.optional(),
  dedupe: z.string().startsWith('/').max(suspensionLimits.dedupeChars).optional(),
});

const suspend = z
  .strictObject({
    reason: text,
    until: z.array(awaited).min(1).max(scriptLimits.until),
    resume: z.union([z.enum(['first_match', 'all']), z.strictObject({ any: z.number().int().min(1) })]).optional(),
    expires: expires.optional(),
  })
  .refine(
    ({ until, resume }) => typeof resume !== 'object' || resume.any <= until.length,
    'resume waits for more than there is',
  )
  .refine(
    ({ until }) => until.reduce((sum, { repeat = 1 }) => sum + repeat, 0) <= suspensionLimits.inputs,
    `until takes more than ${suspensionLimits.inputs} inputs`,
  );

const step = z.union([
  z.strictObject({ say: value }),
  z.strictObject({
    propose: z.strictObject({
      id: name,
      action: text,
      target: textValue,
      input: z.record(z.string(), value).optional(),
    }),
  }),
  z.strictObject({ suspend }),
  z.strictObject({ await: z.literal('steer') }),
  z.strictObject({ require: z.strictObject({ of: value, equals: value }) }),
  z.strictObject({ complete: value }),
  z.strictObject({ fail: text }),
]);

const rule = z.strictObject({
  when: z.strictObject({ type: text }),
  steps: z.array(step).min(1).max(scriptLimits.steps),
});

const script = z.strictObject({
  rules: z.array(rule).max(scriptLimits.rules),
  supports: z.strictObject({ steer: z.boolean().optional(), fork: z.boolean().optional() }).optional(),
});

export type Script = z.infer<typeof script>;
export type ScriptRule = z.infer<typeof rule>;
export type ScriptStep = z.infer<typeof step>;

/** Throws `Problem('schema_invalid')` that names the member. */
export function parseScript(config: JsonObject): Script {
  const parsed = readScript(config);
  if ('fault' in parsed) throw new Problem('schema_invalid', `runtime.config: ${parsed.fault}`);
  return parsed.script;
}

export function readScript(config: JsonObject): { script: Script } | { fault: string } {
  if (Buffer.byteLength(JSON.stringify(config)) > scriptLimits.bytes)
    return { fault: `is larger than ${scriptLimits.bytes} bytes` };
  const parsed = script.safeParse(config);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { fault: `${issue?.path.join('.') || 'the script'}: ${issue?.message ?? 'is malformed'}` };
  }
  const twice = parsed.data.rules.findIndex(({ steps }) => hasRepeatedProposal(steps));
  return twice === -1 ? { script: parsed.data } : { fault: `rules.${twice}.steps: two proposals have the same id` };
}

/** The first rule whose type is the input's, or a prefix of it that ends in `.*`. */
export function findRule({ rules }: Script, type: string): number | undefined {
  const index = rules.findIndex(({ when }) =>
    when.type.endsWith('.*') ? type.startsWith(when.type.slice(0, -1)) : when.type === type,
  );
  return index === -1 ? undefined : index;
}

/** A checkpoint goes on only in the very steps that it was made in. */
export function ruleDigest(found: ScriptRule): string {
  return digestOf(toUtf8(canonicalize(found)));
}

function hasRepeatedProposal(steps: readonly ScriptStep[]): boolean {
  const ids = steps.flatMap((found) => ('propose' in found ? [found.propose.id] : []));
  return new Set(ids).size !== ids.length;
}
