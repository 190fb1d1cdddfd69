/** Context bundles by the digest of their bytes. */
import type { Sql, Tx } from '../../platform/index.js';

export interface StoredBundle {
  home: string;
  digest: string;
  bytes: Uint8Array;
}

export async function insertBundles(tx: Tx, bundles: readonly StoredBundle[]): Promise<void> {
  if (bundles.length === 0) return;
  const given = bundles.map(({ home, digest, bytes }) => ({
    home,
    digest,
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  }));
  await tx`
    insert into foundation.context_bundles (home, digest, bytes)
    select home, digest, decode(bytes, 'base64')
      from jsonb_to_recordset(${tx.json(given)}) as b (home text, digest text, bytes text)
    on conflict (home, digest) do nothing`;
}

export async function selectBundle(sql: Sql, home: string, digest: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes
      from foundation.context_bundles
     where home = ${home} and digest = ${digest}`;
  return row?.bytes;
}
