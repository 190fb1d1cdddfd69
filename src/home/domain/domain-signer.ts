// Signing for the domain: which key signs now, by reference and as the custody port's function.
import type { Sql } from '../../platform/index.js';
import { type Domain, domainKeyRef, type KeyRef, type Sign } from '../../protocol/index.js';
import type { KeyCustody } from '../key-custody/index.js';
import { listDomainKeys, readSigningKey } from './store.js';

export interface DomainSigner {
  kid: string;
  keyRef: KeyRef;
  sign: Sign;
}

export async function domainSigner(sql: Sql, custody: KeyCustody, domain: { name: Domain }): Promise<DomainSigner> {
  const key = await readSigningKey(sql);
  if (!key) throw new Error('the domain has no key that may sign now');
  return {
    kid: key.kid,
    keyRef: domainKeyRef(domain.name, key.kid),
    sign: (bytes) => custody.sign(key, bytes),
  };
}

/** What people compare by eye or phone: the thumbprint of the first domain key. */
export async function domainFingerprint(sql: Sql): Promise<string> {
  const [first] = await listDomainKeys(sql);
  if (!first) throw new Error('the domain has no key');
  return first.kid;
}
