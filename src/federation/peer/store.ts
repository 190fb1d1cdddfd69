// The SQL of peers.
import type { Sql, Tx } from '../../platform/index.js';
import {
  type Domain,
  type DomainBundle,
  type JsonValue,
  type ReceiverLimits,
  recallBundle,
} from '../../protocol/index.js';
import { type Peer, type Relationship, strangersKept } from './peer.js';

interface PeerRow {
  domain: Domain;
  relationship: Relationship;
  fingerprint: string | null;
  gateway: string | null;
  receiverLimits: ReceiverLimits | null;
  bundleContent: JsonValue;
  bundleValidUntil: Date | null;
  bundleFetchedAt: Date | null;
  refreshAfter: Date | null;
  forcedFetchAt: Date | null;
  incarnation: string | null;
  heldReason: string | null;
  lastError: string | null;
}

function columns(sql: Sql) {
  return sql`domain, relationship, fingerprint, gateway, receiver_limits, bundle_content, bundle_valid_until, bundle_fetched_at,
    refresh_after, forced_fetch_at, incarnation, held_reason, last_error`;
}

export async function readPeer(sql: Sql, domain: Domain): Promise<Peer | undefined> {
  const [row] = await sql<PeerRow[]>`
    select ${columns(sql)}
      from federation.peers
     where domain = ${domain}`;
  return row && toPeer(row);
}

/** Peers in the order of their names, after a name. */
export async function listPeers(sql: Sql, { after, limit }: { after: string; limit: number }): Promise<Peer[]> {
  const rows = await sql<PeerRow[]>`
    select ${columns(sql)}
      from federation.peers
     where domain > ${after}
     order by domain
     limit ${limit}`;
  return rows.map(toPeer);
}

/** Pinned peers whose bundle is due for a look, the longest overdue first. */
export async function duePeers(sql: Sql, { except, limit }: { except: Domain; limit: number }): Promise<Domain[]> {
  const rows = await sql<{ domain: Domain }[]>`
    select domain
      from federation.peers
     where relationship = 'pinned'
       and domain <> ${except}
       and (refresh_after is null or refresh_after <= hearth_now())
     order by refresh_after nulls first, domain
     limit ${limit}`;
  return rows.map((row) => row.domain);
}

/** Pins a domain. Another fingerprint than the stored bundle's means that the stored bundle is not believed any more. */
export async function savePin(tx: Tx, { domain, fingerprint }: { domain: Domain; fingerprint: string }): Promise<Peer> {
  await tx`
    insert into federation.peers (domain, relationship, fingerprint)
    values (${domain}, 'pinned', ${fingerprint})
    on conflict (domain) do nothing`;
  await tx`
    update federation.peers
       set bundle = null, bundle_content = null, bundle_valid_until = null, bundle_fetched_at = null, refresh_after = null
     where domain = ${domain}
       and bundle_content ->> 'first_kid' <> ${fingerprint}`;
  const [row] = await tx<PeerRow[]>`
    update federation.peers
       set relationship = 'pinned', fingerprint = ${fingerprint}, held_reason = null, forced_fetch_at = null,
           refresh_after = null, updated_at = hearth_now()
     where domain = ${domain}
    returning ${columns(tx)}`;
  await tx`
    insert into federation.peer_deliveries (peer)
    values (${domain})
    on conflict (peer) do nothing`;
  if (!row) throw new Error(`the pinned peer ${domain} is gone`);
  return toPeer(row);
}

export async function saveBlock(tx: Tx, domain: Domain): Promise<void> {
  await tx`
    insert into federation.peers (domain, relationship)
    values (${domain}, 'blocked')
    on conflict (domain) do update
       set relationship = 'blocked', updated_at = hearth_now()`;
}

export interface FetchedBundle {
  domain: Domain;
  gateway: string;
  limits: ReceiverLimits;
  token: string;
  content: DomainBundle;
  validUntil: Date;
  refreshAfter: Date;
  forced: boolean;
}

/**
 * Keeps a verified bundle unless a newer one is there already. An unknown domain becomes a stranger; it is never pinned by
 * being looked up.
 */
export async function saveBundle(tx: Tx, fetched: FetchedBundle): Promise<void> {
  const content = tx.json(fetched.content as unknown as JsonObjectParameter);
  await tx`
    insert into federation.peers as p (domain, relationship, gateway, receiver_limits, bundle, bundle_content,
           bundle_valid_until, bundle_fetched_at, refresh_after)
    values (${fetched.domain}, 'stranger', ${fetched.gateway}, ${tx.json(fetched.limits)}, ${fetched.token}, ${content},
           ${fetched.validUntil}, hearth_now(), ${fetched.refreshAfter})
    on conflict (domain) do update
       set gateway = excluded.gateway, receiver_limits = excluded.receiver_limits, bundle = excluded.bundle, bundle_content = excluded.bundle_content,
           bundle_valid_until = excluded.bundle_valid_until, bundle_fetched_at = hearth_now(),
           refresh_after = excluded.refresh_after, held_reason = null, last_error = null,
           forced_fetch_at = case when ${fetched.forced} then hearth_now() else p.forced_fetch_at end,
           updated_at = hearth_now()
     where (p.bundle_content is null
            or (p.bundle_content ->> 'sequence')::numeric <= (excluded.bundle_content ->> 'sequence')::numeric)
       and (p.fingerprint is null or p.fingerprint = excluded.bundle_content ->> 'first_kid')`;
}

/** Makes room for one more stranger: the ones seen longest ago go. */
export async function trimStrangers(tx: Tx): Promise<void> {
  await tx`
    delete from federation.peers
     where domain in (select domain
                        from federation.peers
                       where relationship = 'stranger'
                       order by updated_at desc
                      offset ${strangersKept})`;
}

export interface FailedFetch {
  domain: Domain;
  error: string;
  /** Set when what was fetched breaks continuity: the operator has to look. */
  heldReason: string | undefined;
  retryAfter: Date;
  forced: boolean;
}

/** Notes a failed look at a known peer; the last good bundle stays. */
export async function saveFailedFetch(tx: Tx, failed: FailedFetch): Promise<void> {
  await tx`
    update federation.peers
       set refresh_after = ${failed.retryAfter}, last_error = ${failed.error}, last_error_at = hearth_now(),
           held_reason = coalesce(${failed.heldReason ?? null}, held_reason),
           forced_fetch_at = case when ${failed.forced} then hearth_now() else forced_fetch_at end
     where domain = ${failed.domain}`;
}

export async function saveIncarnation(
  tx: Tx,
  { domain, incarnation }: { domain: Domain; incarnation: string },
): Promise<void> {
  await tx`
    update federation.peers
       set incarnation = ${incarnation}, updated_at = hearth_now()
     where domain = ${domain}
       and incarnation is distinct from ${incarnation}`;
}

type JsonObjectParameter = Parameters<Sql['json']>[0];

function toPeer(row: PeerRow): Peer {
  return {
    domain: row.domain,
    relationship: row.relationship,
    fingerprint: row.fingerprint ?? undefined,
    gateway: row.gateway ?? undefined,
    receiverLimits: row.receiverLimits ?? undefined,
    bundle: row.bundleContent === null ? undefined : recallBundle(row.bundleContent),
    bundleValidUntil: row.bundleValidUntil ?? undefined,
    bundleFetchedAt: row.bundleFetchedAt ?? undefined,
    refreshAfter: row.refreshAfter ?? undefined,
    forcedFetchAt: row.forcedFetchAt ?? undefined,
    incarnation: row.incarnation ?? undefined,
    heldReason: row.heldReason ?? undefined,
    lastError: row.lastError ?? undefined,
  };
}
