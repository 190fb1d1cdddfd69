// A credential as the admin API shows it: never its token, of which only a hash exists.
import { type Credential, principalByHome } from '../../home/index.js';
import type { Sql } from '../../platform/index.js';
import { formatInstant } from '../../protocol/index.js';

export async function credentialView(sql: Sql, credential: Credential): Promise<object> {
  const principal = await principalByHome(sql, credential.home);
  return {
    id: credential.id,
    kind: credential.kind,
    address: principal?.address ?? null,
    source: credential.source,
    label: credential.label,
    expires_at: credential.expiresAt ? formatInstant(credential.expiresAt) : null,
    revoked_at: credential.revokedAt ? formatInstant(credential.revokedAt) : null,
    created_at: formatInstant(credential.createdAt),
  };
}
