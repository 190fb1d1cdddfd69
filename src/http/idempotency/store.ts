// The SQL of idempotency keys: requests in work and the sealed answers that repeats get.
import type { Sql, Tx } from '../../platform/index.js';

export interface KeyPlace {
  home: string;
  keyDigest: string;
}

export interface KeyRecord {
  bodyDigest: string;
  /** Null while the first request is in work. */
  status: number | null;
  answer: Uint8Array | null;
  /** The first request may still be in work; after that its process is taken for dead. */
  claimed: boolean;
}

/** One request per key at a time, over all processes; false while another has it. Held until the commit. */
export async function tryLockKey(tx: Tx, { home, keyDigest }: KeyPlace): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`idempotency ${home} ${keyDigest}`}, 0)) as locked`;
  return row?.locked === true;
}

export async function readKey(sql: Sql, { home, keyDigest }: KeyPlace): Promise<KeyRecord | undefined> {
  const [row] = await sql<KeyRecord[]>`
    select body_digest, status, answer, coalesce(claimed_until > hearth_lease_now(), false) as claimed
      from home.idempotency_keys
     where home = ${home} and key_digest = ${keyDigest} and expires_at > hearth_now()`;
  return row;
}

/** Forgets what is past its time, a bounded part at a time, and counts what is left, up to the limit. */
export async function countKeys(tx: Tx, { home, limit }: { home: string; limit: number }): Promise<number> {
  await tx`
    delete from home.idempotency_keys
     where ctid = any(array(select ctid
                              from home.idempotency_keys
                             where home = ${home} and expires_at <= hearth_now()
                             order by expires_at
                             limit 200
                               for update skip locked))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)
      from (select 1
              from home.idempotency_keys
             where home = ${home} and expires_at > hearth_now()
             limit ${limit}) live`;
  return row?.count ?? 0;
}

/** Claims a key for a request that is not over within this transaction; also one whose process is taken for dead. */
export async function claimKey(
  tx: Tx,
  {
    home,
    keyDigest,
    bodyDigest,
    claimMs,
    memoryMs,
  }: KeyPlace & { bodyDigest: string; claimMs: number; memoryMs: number },
): Promise<void> {
  await tx`
    insert into home.idempotency_keys as k (home, key_digest, body_digest, claimed_until, expires_at)
    values (${home}, ${keyDigest}, ${bodyDigest}, hearth_lease_now() + ${claimMs} * interval '1 millisecond',
            hearth_now() + ${memoryMs} * interval '1 millisecond')
        on conflict (home, key_digest) do update
       set body_digest = excluded.body_digest, claimed_until = excluded.claimed_until, status = null, answer = null,
           expires_at = excluded.expires_at`;
}

export async function saveAnswer(
  tx: Tx,
  answer: KeyPlace & { bodyDigest: string; status: number; answer: Uint8Array; memoryMs: number },
): Promise<void> {
  const { home, keyDigest, bodyDigest, status, memoryMs } = answer;
  await tx`
    insert into home.idempotency_keys as k (home, key_digest, body_digest, status, answer, expires_at)
    values (${home}, ${keyDigest}, ${bodyDigest}, ${status}, ${answer.answer},
            hearth_now() + ${memoryMs} * interval '1 millisecond')
        on conflict (home, key_digest) do update
       set body_digest = excluded.body_digest, claimed_until = null, status = excluded.status,
           answer = excluded.answer, expires_at = excluded.expires_at`;
}

/** Lets go of a claim: a refused request has done nothing, and one that failed may be tried again. */
export async function releaseKey(tx: Tx, { home, keyDigest }: KeyPlace): Promise<void> {
  await tx`
    delete from home.idempotency_keys
     where home = ${home} and key_digest = ${keyDigest} and answer is null`;
}
