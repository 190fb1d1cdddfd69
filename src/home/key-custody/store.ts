// What key custody keeps in the database: only the name of the key encryption key.
import type { Sql } from '../../platform/index.js';

/** Undefined before the domain's first start. */
export async function readKeyEncryptionKeyId(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ keyEncryptionKeyId: string }[]>`
    select key_encryption_key_id
      from home.domain
     limit 1`;
  return row?.keyEncryptionKeyId;
}
