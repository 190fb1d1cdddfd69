/** How far the next input of a tenant's log has been decided on, when it concerns more than one commit takes. */
import type { Sql, Tx } from '../../platform/index.js';
import type { FanOutPlace } from './find-candidates.js';

export async function selectFanOut(sql: Sql, tenant: string): Promise<FanOutPlace | undefined> {
  const [row] = await sql<{ fanOutAfter: Omit<FanOutPlace, 'count'> | null; fanOutCount: number }[]>`
    select fan_out_after, fan_out_count
      from foundation.input_log_heads
     where tenant = ${tenant} and fan_out_after is not null`;
  return row?.fanOutAfter ? { ...row.fanOutAfter, count: row.fanOutCount } : undefined;
}

/** The caller has the head locked. */
export async function keepFanOut(tx: Tx, tenant: string, { count, ...after }: FanOutPlace): Promise<void> {
  await tx`
    update foundation.input_log_heads
       set fan_out_after = ${tx.json(after)}, fan_out_count = ${count}
     where tenant = ${tenant}`;
}
