/**
 * Whom an input concerns: subscriptions by its type, each of its prefixes, and its subject, in pages ordered by home. Each
 * page reads one index range per type and subject from where the last one ended, so it costs the same however many wait.
 */
import type { Sql } from '../../platform/index.js';
import { subscriptionColumns } from './store.js';
import { matchingTypes, type SubscriptionRecord } from './suspension.js';

export interface MatchedBy {
  tenant: string;
  type: string;
  subject: string | undefined;
  receivedAt: Date;
}

export interface WaitingPage {
  /** Home and suspension that the page before ended with. */
  after: { home: string; id: string };
  limit: number;
}

export function waitingSubscriptions(sql: Sql, { tenant, type, subject, receivedAt }: MatchedBy, page: WaitingPage) {
  const { after, limit } = page;
  const awaited = (concerning: ReturnType<typeof bySubject>) => sql`
    (select ${subscriptionColumns(sql)}
       from foundation.subscriptions
      where owner = 'suspension' and status = 'active' and tenant = ${tenant} and ${concerning}
        and (home, suspension_id) > (${after.home}, ${after.id})
        and (expires_at is null or expires_at > ${receivedAt})
      order by subject, home, suspension_id, id
      limit ${limit})`;
  return sql<SubscriptionRecord[]>`
    select *
      from (${eachRange(sql, { type, subject }, awaited)}) found
     order by home, suspension_id, id
     limit ${limit}`;
}

export interface ListeningPage {
  after: { home: string; id: string };
  limit: number;
  /** Only this agent's. */
  only?: string;
}

export function listeningSubscriptions(
  sql: Sql,
  { tenant, type, subject, receivedAt }: MatchedBy,
  page: ListeningPage,
) {
  const { after, limit, only } = page;
  const listened = (concerning: ReturnType<typeof bySubject>) => sql`
    (select ${subscriptionColumns(sql)}
       from foundation.subscriptions
      where owner = 'agent' and status = 'active' and tenant = ${tenant} and ${concerning}
        and home > ${after.home} ${only === undefined ? sql`` : sql`and home = ${only}`}
        and (expires_at is null or expires_at > ${receivedAt})
      order by subject, home, id
      limit ${limit})`;
  return sql<SubscriptionRecord[]>`
    select *
      from (${eachRange(sql, { type, subject }, listened)}) found
     order by home, id
     limit ${limit}`;
}

/** Whether anybody waits for or listens to such an input. */
export async function isAwaited(
  sql: Sql,
  { tenant, type, subject }: { tenant: string; type: string; subject: string },
): Promise<boolean> {
  const of = (owner: ReturnType<typeof bySubject>) => (concerning: ReturnType<typeof bySubject>) =>
    sql`
    (select 1
       from foundation.subscriptions
      where ${owner} and status = 'active' and tenant = ${tenant} and ${concerning}
      limit 1)`;
  const [row] = await sql<{ awaited: boolean }[]>`
    select exists (${eachRange(sql, { type, subject }, of(sql`owner = 'agent'`))})
        or exists (${eachRange(sql, { type, subject }, of(sql`owner = 'suspension'`))}) as awaited`;
  return row?.awaited === true;
}

/** The same for any subject. */
export async function isTypeAwaited(sql: Sql, { tenant, type }: { tenant: string; type: string }): Promise<boolean> {
  const [row] = await sql<{ awaited: boolean }[]>`
    select exists (
             select 1
               from foundation.subscriptions
              where owner = 'agent' and status = 'active' and tenant = ${tenant} and type = any(${matchingTypes(type)}))
        or exists (
             select 1
               from foundation.subscriptions
              where owner = 'suspension' and status = 'active' and tenant = ${tenant}
                and type = any(${matchingTypes(type)})) as awaited`;
  return row?.awaited === true;
}

/** Which of these types some wait of the tenant is about, whatever its subject. */
export async function awaitedTypes(
  sql: Sql,
  { tenant, types }: { tenant: string; types: readonly string[] },
): Promise<ReadonlySet<string>> {
  const matches = types.flatMap((type) => matchingTypes(type).map((pattern) => ({ type, pattern })));
  const rows = await sql<{ type: string }[]>`
    select distinct n.type
      from unnest(${matches.map(({ type }) => type)}::text[], ${matches.map(({ pattern }) => pattern)}::text[]) as n (type, pattern)
     where exists (
             select 1
               from foundation.subscriptions s
              where s.owner = 'suspension' and s.status = 'active' and s.tenant = ${tenant} and s.type = n.pattern)`;
  return new Set(rows.map(({ type }) => type));
}

function bySubject(sql: Sql, type: string, subject: string | undefined) {
  return subject === undefined ? sql`type = ${type} and subject is null` : sql`type = ${type} and subject = ${subject}`;
}

/** One branch for each type that matches, with and without the subject. */
function eachRange(
  sql: Sql,
  { type, subject }: { type: string; subject: string | undefined },
  branch: (concerning: ReturnType<typeof bySubject>) => ReturnType<typeof bySubject>,
) {
  const subjects = subject === undefined ? [undefined] : [undefined, subject];
  const ranges = matchingTypes(type).flatMap((each) => subjects.map((one) => branch(bySubject(sql, each, one))));
  return ranges.reduce((all, range) => sql`${all} union all ${range}`);
}
