/** Context bundles by the digest of their bytes. */
import type { Sql, Tx } from '../../platform/index.js';

export async function insertBundle(
  tx: Tx,
  { home, digest, bytes }: { home: string; digest: string; bytes: Uint8Array },
): Promise<void> {
  await tx`
    insert into foundation.context_bundles (home, digest, bytes)
    values (${home}, ${digest}, ${bytes})
    on conflict (home, digest) do nothing`;
}

export async function selectBundle(sql: Sql, home: string, digest: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes
      from foundation.context_bundles
     where home = ${home} and digest = ${digest}`;
  return row?.bytes;
}
