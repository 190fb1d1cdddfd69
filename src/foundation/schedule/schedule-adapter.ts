/**
 * An agent sets its own time: the actions `schedule.set` and `schedule.cancel`, effects inside our own database. What it sets
 * is for itself alone, and carries no more trust than what it had seen when it set it.
 */
import { z } from 'zod';
import { Problem } from '../../protocol/index.js';
import type { ActionProposal } from '../effect/index.js';
import { mintFrom } from '../new-id.js';
import type { FoundationParts } from '../parts.js';
import { foundationChannels } from '../parts.js';
import type { TransactionalEffectAdapter } from '../ports.js';
import { addSchedule } from './add-schedule.js';
import { type ScheduleRecord, scheduleShape } from './schedule.js';
import { cancelSchedule, cancelScheduleByKey } from './store.js';

const cancelShape = z.union([
  z.strictObject({ id: z.string().max(320) }),
  z.strictObject({ key: z.string().max(128) }),
]);

export function scheduleAdapter(parts: Pick<FoundationParts, 'clock' | 'random'>): TransactionalEffectAdapter {
  return {
    kind: 'transactional',
    check({ action, input }) {
      const read = action === 'schedule.set' ? scheduleShape.safeParse(input) : cancelShape.safeParse(input);
      if (read.success) return { ok: true };
      const issue = read.error.issues[0];
      return { ok: false, reason: `${issue?.path.join('.') || 'the input'}: ${issue?.message ?? 'is malformed'}` };
    },
    prepare: (proposal) =>
      Promise.resolve(proposal.action === 'schedule.set' ? set(parts, proposal) : cancel(proposal)),
  };
}

function set(parts: Parameters<typeof mintFrom>[0], { actor, tenant, input, labels }: ActionProposal) {
  return {
    wake: [foundationChannels.schedules],
    async commit(tx: Parameters<typeof addSchedule>[0]) {
      const added = await refusable(
        addSchedule(tx, {
          draft: scheduleShape.parse(input),
          home: actor.home,
          tenant,
          agent: actor.agent,
          owner: actor.agent,
          trustClass: labels?.includes('untrusted_content') ? 'untrusted_content' : 'trusted_fact',
          ids: mintFrom(parts),
        }),
      );
      if ('refused' in added) return added;
      return { result: { schedule_id: added.id, next_fire_at: added.nextFireAt?.toISOString() ?? null } };
    },
  };
}

/** What the rule, the data or the number of schedules stands against is told to the runtime; the commit is rolled back. */
async function refusable(adding: Promise<ScheduleRecord>): Promise<ScheduleRecord | { refused: string }> {
  try {
    return await adding;
  } catch (error) {
    if (error instanceof Problem) return { refused: error.detail };
    throw error;
  }
}

function cancel({ actor: { home }, input }: ActionProposal) {
  return {
    wake: [],
    async commit(tx: Parameters<typeof cancelSchedule>[0]) {
      const named = cancelShape.parse(input);
      const cancelled =
        'id' in named
          ? await cancelSchedule(tx, { home, id: named.id })
          : await cancelScheduleByKey(tx, { home, key: named.key });
      return cancelled ? { result: { cancelled: true } } : { refused: 'schedule_unknown' };
    },
  };
}
