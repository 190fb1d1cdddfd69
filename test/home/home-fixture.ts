// A domain of its own for one test file: database, custody and what the verbs ask for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAgent,
  createPrincipal,
  openDomain,
  openKeyCustody,
  type Principal,
  type PrincipalGateway,
} from '../../src/home/index.js';
import { type Database, systemClock, systemRandom } from '../../src/platform/index.js';
import { type Domain, parseDomain } from '../../src/protocol/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

export interface HomeFixture extends PrincipalGateway {
  test: TestDatabase;
  directory: string;
  kekFile: string;
  close(): Promise<void>;
}

export function domainOf(text: string): Domain {
  const domain = parseDomain(text);
  if (!domain) throw new Error(`not a domain: ${text}`);
  return domain;
}

export async function openHome(name = 'alpha.test'): Promise<HomeFixture> {
  const test = await createTestDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'hearth-home-'));
  const kekFile = join(directory, 'keys', 'kek');
  const random = systemRandom();
  const db = test.database;
  const custody = await openKeyCustody({ sql: db.sql, file: kekFile, makeIfMissing: true, random });
  const domain = await openDomain({ db, custody, name: domainOf(name), random });
  return {
    test,
    directory,
    kekFile,
    db,
    custody,
    domain,
    random,
    clock: systemClock(),
    async close() {
      await test.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function addPrincipal(
  home: HomeFixture,
  name: string,
  kind: 'human' | 'service' = 'human',
): Promise<Principal> {
  const created = await createPrincipal(home, { kind, name, actor: 'test' });
  if (!created.ok) throw new Error(created.detail);
  return created.principal;
}

/** The text of every row of every table, bytes as hex: what a reader of the whole database could find. */
export async function dumpEverything(db: Database): Promise<string> {
  return db.transact('dump', async (tx) => {
    await tx`select set_config('xmlbinary', 'hex', true)`;
    const rows = await tx<{ text: string }[]>`
      select query_to_xml(format('select * from %I.%I', schemaname, tablename), true, false, '')::text as text
        from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`;
    return rows
      .map((row) => row.text)
      .join('\n')
      .toLowerCase();
  });
}

/** Every spelling in which the dump could show these bytes. */
export function spellingsOf(secret: Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const texts = [bytes.toString('base64url'), bytes.toString('base64'), bytes.toString('hex'), bytes.toString('utf8')];
  return texts.flatMap((text) => [text.toLowerCase(), Buffer.from(text, 'utf8').toString('hex')]);
}

/** An agent owned by the human `owner`, who is made when missing. */
export async function addAgent(home: HomeFixture, name: string): Promise<Principal> {
  await createPrincipal(home, { kind: 'human', name: 'owner', actor: 'test' });
  const created = await createAgent(home, {
    name,
    owner: `human://${home.domain.name}/users/owner`,
    runtime: { id: 'scripted', config: { rules: [] } },
    actor: 'test',
  });
  if (!created.ok) throw new Error(created.detail);
  return created.principal;
}
