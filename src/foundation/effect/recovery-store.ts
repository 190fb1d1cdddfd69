/** What recovery finds and moves on: claims that have lapsed, doubts to be asked about, intents that nobody will dispatch. */
import type { Sql, Tx } from '../../platform/index.js';
import type { EffectRecord } from './effect-record.js';
import { effectColumns } from './store.js';

export type OpenEffect = EffectRecord & { runLives: boolean };

/** Effects whose outcome is to be asked for now. A run that lives asks about its own `dispatching` itself. */
export function listEffectsToAsk(sql: Sql, limit: number): Promise<OpenEffect[]> {
  return sql<OpenEffect[]>`
    select *
      from (
        select ${effectColumns(sql)},
               exists (
                 select from foundation.runs r
                  where r.home = effects.home and r.id = effects.run_id and r.status = 'running'
               ) as run_lives
          from foundation.effects
         where status in ('dispatching', 'unknown') and claimed_until <= hearth_lease_now()
      ) open
     where status = 'unknown' or not run_lives
     order by claimed_until
     limit ${limit}`;
}

/** The target never saw it and no live run owns it: a later proposal may adopt it, else it ends with its runs. */
export async function releaseEffect(tx: Tx, effect: EffectRecord): Promise<boolean> {
  const released = await tx`
    update foundation.effects
       set status = 'pending', claimed_until = null
     where home = ${effect.home} and effect_id = ${effect.effectId}
       and status = ${effect.status} and attempt = ${effect.attempt}
       and (status = 'unknown' or claimed_until <= hearth_lease_now())
       and not exists (
         select from foundation.runs r
          where r.home = ${effect.home} and r.id = ${effect.runId} and r.status = 'running'
       )
    returning effect_id`;
  return released.length === 1;
}

// Asked about at twice its age each time, at most an hour apart, for a day; then it waits for a decision.
const firstAskMs = 30_000;
const lastAskMs = 3_600_000;
const askForMs = 86_400_000;

export async function postponeAsking(tx: Tx, effect: EffectRecord): Promise<void> {
  await tx`
    update foundation.effects
       set claimed_until = case
             when hearth_now() - dispatched_at < ${askForMs}::bigint * interval '1 millisecond'
             then hearth_lease_now() + least(
                    greatest(hearth_now() - dispatched_at, ${firstAskMs}::bigint * interval '1 millisecond'),
                    ${lastAskMs}::bigint * interval '1 millisecond'
                  )
           end
     where home = ${effect.home} and effect_id = ${effect.effectId}
       and status = 'unknown' and attempt = ${effect.attempt}`;
}

const abandonedAfterMs = 600_000;

/**
 * Intents that nobody is left to dispatch: no run of their session is queued or running (a crashed run and the retry that
 * replaces it change in one commit, so a chain that goes on is never seen broken), or a person has not come back.
 */
export function listAbandonedEffects(sql: Sql, limit: number): Promise<EffectRecord[]> {
  return sql<EffectRecord[]>`
    select ${effectColumns(sql)}
      from foundation.effects
     where status = 'pending'
       and (
         (session_id is null and created_at < hearth_now() - ${abandonedAfterMs}::bigint * interval '1 millisecond')
         or (session_id is not null and not exists (
           select from foundation.runs r
            where r.home = effects.home and r.session_id = effects.session_id and r.status in ('queued', 'running')
         ))
       )
     order by created_at
     limit ${limit}`;
}
