// A standing subscription as given and as shown.
import { z } from 'zod';
import type { SubscriptionRecord } from '../../foundation/index.js';
import { formatInstant } from '../../protocol/index.js';

export const whenActive = z.enum(['enqueue', 'steer', 'fork', 'project']);

export const subscriptionShape = z.strictObject({
  type: z.string().min(1).max(128),
  subject: z.string().min(1).max(512).optional(),
  when_active: whenActive.optional(),
  priority: z.enum(['urgent', 'normal', 'bulk']).optional(),
});

export type SubscriptionShape = z.infer<typeof subscriptionShape>;

/** Absent members stay absent. */
export function toSubscription({ type, subject, when_active, priority }: SubscriptionShape) {
  return {
    type,
    ...(subject === undefined ? {} : { subject }),
    ...(when_active === undefined ? {} : { whenActive: when_active }),
    ...(priority === undefined ? {} : { priority }),
  };
}

export function subscriptionView(subscription: SubscriptionRecord): object {
  const { id, type, subject, whenActive, priority, createdAt } = subscription;
  return { id, type, subject, when_active: whenActive, priority, created_at: formatInstant(createdAt) };
}
