// How an agent's attention is told at the door (D16): what an agent without any of it does is written at each setting.
import { z } from 'zod';
import { type AttentionSettings, attentionLimits, laneLimits } from '../../foundation/index.js';
import { whenActive } from './subscription-shape.js';

const windowMs = z.number().int().min(1).max(attentionLimits.windowMs);

export const attentionShape = z.strictObject({
  when_active: whenActive.default('enqueue'),
  lane_order: z.enum(['arrival', 'priority']).optional(),
  merge_window_ms: z.number().int().min(0).max(laneLimits.mergeWindowMs).optional(),
  strangers: z.enum(['wake', 'project', 'ignore']).optional(),
  stale_after_ms: z.number().int().min(1).max(attentionLimits.staleAfterMs).optional(),
  budget: z.strictObject({ wakes: z.number().int().min(1).max(attentionLimits.wakes), window_ms: windowMs }).optional(),
  duplicate_window_ms: windowMs.optional(),
  urgent_within_ms: windowMs.optional(),
  least_worth: z.number().int().min(-attentionLimits.worth).max(attentionLimits.worth).optional(),
});

/** Absent members stay absent. */
export function toAttention(given: z.infer<typeof attentionShape>): AttentionSettings {
  const { budget } = given;
  return {
    whenActive: given.when_active,
    ...(given.lane_order === undefined ? {} : { laneOrder: given.lane_order }),
    ...(given.merge_window_ms === undefined ? {} : { mergeWindowMs: given.merge_window_ms }),
    ...(given.strangers === undefined ? {} : { strangers: given.strangers }),
    ...(given.stale_after_ms === undefined ? {} : { staleAfterMs: given.stale_after_ms }),
    ...(budget === undefined ? {} : { budget: { wakes: budget.wakes, windowMs: budget.window_ms } }),
    ...(given.duplicate_window_ms === undefined ? {} : { duplicateWindowMs: given.duplicate_window_ms }),
    ...(given.urgent_within_ms === undefined ? {} : { urgentWithinMs: given.urgent_within_ms }),
    ...(given.least_worth === undefined ? {} : { leastWorth: given.least_worth }),
  };
}
