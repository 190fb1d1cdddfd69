// Opens the domain at start: founds it once, and refuses to go on under another name or another key encryption key.
import { type Database, type Random, StartRefused } from '../../platform/index.js';
import { type Domain, thumbprint, toBase64url } from '../../protocol/index.js';
import { type KeyCustody, requireSameKey } from '../key-custody/index.js';
import type { DomainRecord } from './domain-record.js';
import { insertDomain, insertDomainKey, readDomain } from './store.js';

export interface OpenDomain {
  db: Database;
  custody: KeyCustody;
  name: Domain;
  random: Random;
}

export async function openDomain(options: OpenDomain): Promise<DomainRecord> {
  const domain = (await readDomain(options.db.sql)) ?? (await foundDomain(options));
  requireSameName(domain, options.name);
  requireSameKey(options.custody, domain.keyEncryptionKeyId);
  return domain;
}

/** BR-78: the name is inside every address, key reference and id, so a changed setting would be another domain. */
function requireSameName(domain: DomainRecord, name: Domain): void {
  if (domain.name === name) return;
  throw new StartRefused(
    `This database belongs to the domain ${domain.name}, but the setting says ${name}. A domain never changes its name: ` +
      `set HEARTH_DOMAIN=${domain.name}, or give ${name} a data directory or database of its own.`,
  );
}

/** Of several first starters one founds the domain; the others find it founded and throw their unused key away. */
async function foundDomain({ db, custody, name, random }: OpenDomain): Promise<DomainRecord> {
  const key = await custody.generate();
  const incarnation = `inc_${toBase64url(random.bytes(15))}`;
  await db.transact('found domain', async (tx) => {
    const founded = await insertDomain(tx, { name, incarnation, keyEncryptionKeyId: custody.keyEncryptionKeyId });
    if (founded) await insertDomainKey(tx, { ...key, kid: thumbprint(key.publicJwk) });
  });
  const domain = await readDomain(db.sql);
  if (!domain) throw new Error('the domain row vanished after it was founded');
  return domain;
}
