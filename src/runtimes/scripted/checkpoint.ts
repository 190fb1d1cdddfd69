/** The state of a suspended script: plain JSON, so that it goes on in any process, and forks by being copied. */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../protocol/index.js';

const jsonObject = z.custom<JsonObject>(
  (given) => typeof given === 'object' && given !== null && !Array.isArray(given),
);

const checkpoint = z.strictObject({
  rule: z.number().int().nonnegative(),
  rule_digest: z.string(),
  /** The step to go on with. */
  step: z.number().int().nonnegative(),
  vars: jsonObject,
  /** The input that the rule first answered, which names its proposals. */
  first: jsonObject,
});

export type Checkpoint = z.infer<typeof checkpoint>;

/** Undefined for what no script has written. */
export function readCheckpoint(state: JsonValue | undefined): Checkpoint | undefined {
  const parsed = checkpoint.safeParse(state);
  return parsed.success ? parsed.data : undefined;
}
