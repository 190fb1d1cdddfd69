// The SQL of webhook sources; secrets reach it only sealed.
import type { Sql, Tx } from '../../platform/index.js';
import type { WebhookAdapter, WebhookSource } from './webhook-source.js';

export async function insertWebhookSource(
  tx: Tx,
  source: { home: string; name: string; adapter: WebhookAdapter; sealedSecret: Uint8Array },
): Promise<void> {
  await tx`
    insert into home.webhook_sources (home, name, adapter, sealed_secret)
    values (${source.home}, ${source.name}, ${source.adapter}, ${source.sealedSecret})`;
}

export async function readWebhookSource(
  sql: Sql,
  name: string,
): Promise<(WebhookSource & { sealedSecret: Uint8Array }) | undefined> {
  const [row] = await sql<(WebhookSource & { sealedSecret: Uint8Array })[]>`
    select s.home, s.name, s.adapter, p.tenant, p.address, s.created_at, s.sealed_secret
      from home.webhook_sources s
      join home.principals p on p.home = s.home
     where s.name = ${name}
       and p.status not in ('ended', 'revoked')`;
  return row;
}

/** Of these principals, those that may post webhooks, and how. */
export async function readAdapters(
  sql: Sql,
  homes: readonly string[],
): Promise<Pick<WebhookSource, 'home' | 'adapter'>[]> {
  return sql<Pick<WebhookSource, 'home' | 'adapter'>[]>`
    select home, adapter
      from home.webhook_sources
     where home = any(${[...homes]}::text[])`;
}
