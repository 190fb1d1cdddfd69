import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  currentBundle,
  domainFingerprint,
  domainSigner,
  ensureOperator,
  openDomain,
  openKeyCustody,
} from '../../src/home/index.js';
import { systemClock, systemRandom } from '../../src/platform/index.js';
import { type DomainBundle, keyAt, verifyBundle } from '../../src/protocol/index.js';
import { openTestDatabase } from '../support/database.js';
import { addPrincipal, domainOf, type HomeFixture, openHome } from './home-fixture.js';

const random = systemRandom();

describe('a domain', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  it('is the same at every later start', async () => {
    const again = await openDomain({ db: home.db, custody: home.custody, name: domainOf('alpha.test'), random });
    expect(again).toEqual(home.domain);
  });

  it('BR-78: refuses to start under another name, and says which name the database has', async () => {
    const opened = openDomain({ db: home.db, custody: home.custody, name: domainOf('beta.test'), random });
    await expect(opened).rejects.toThrow(/belongs to the domain alpha\.test.*HEARTH_DOMAIN=alpha\.test/);
  });

  it('is founded once by concurrent first starts, with one key, one operator and one token', async () => {
    const fresh = await openHome('gamma.test');
    const clients = Array.from({ length: 4 }, () => openTestDatabase(fresh.test.target));
    try {
      await fresh.db.sql`truncate home.domain, home.domain_keys`;
      const started = await Promise.all(
        clients.map(async (db) => {
          const custody = await openKeyCustody({ sql: db.sql, file: fresh.kekFile, makeIfMissing: true, random });
          const domain = await openDomain({ db, custody, name: domainOf('gamma.test'), random });
          const operator = await ensureOperator({ db, custody, domain, random, clock: systemClock() });
          return { incarnation: domain.incarnation, operator };
        }),
      );
      expect(new Set(started.map((each) => each.incarnation)).size).toBe(1);
      expect(started.filter((each) => each.operator !== undefined)).toHaveLength(1);
      const [counted] = await fresh.db.sql`
        select (select count(*) from home.domain_keys) as keys, (select count(*) from home.principals) as principals`;
      expect(counted).toEqual({ keys: 1, principals: 1 });
    } finally {
      await Promise.all(clients.map((db) => db.close()));
      await fresh.close();
    }
  });
});

describe('the domain bundle', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  async function verified(token: string, pinned: { fingerprint: string } | { bundle: DomainBundle }) {
    const read = await verifyBundle(token, { domain: home.domain.name, now: await now(), pinned });
    if (!read.ok) throw new Error(`${read.reason}: ${read.detail}`);
    return read;
  }

  async function now(): Promise<Date> {
    const [row] = await home.db.sql<{ now: Date }[]>`select hearth_now() as now`;
    if (!row) throw new Error('no clock');
    return row.now;
  }

  it('verifies against the fingerprint, and its key signs for the domain now', async () => {
    const { token, sequence } = await currentBundle(home);
    const { bundle } = await verified(token, { fingerprint: await domainFingerprint(home.db.sql) });
    expect(bundle.sequence).toBe(String(sequence));
    const signer = await domainSigner(home.db.sql, home.custody, home.domain);
    expect(signer.keyRef).toBe(`key://alpha.test/domain/${signer.kid}`);
    expect(keyAt(bundle, signer.kid, await now()).ok).toBe(true);
  });

  it('has the same bytes under the same sequence in every process', async () => {
    const other = openTestDatabase(home.test.target);
    try {
      const bundles = await Promise.all(
        [home, { ...home, db: other }, home, { ...home, db: other }].map(currentBundle),
      );
      expect(new Set(bundles.map((each) => each.token)).size).toBe(1);
    } finally {
      await other.close();
    }
  });

  it('is signed again, with a higher sequence, after half a refresh hint, once for all who ask at that moment', async () => {
    const before = await currentBundle(home);
    const trusted = await verified(before.token, { fingerprint: await domainFingerprint(home.db.sql) });
    await home.db.sql`update home.domain set bundle_issued_at = hearth_now() - interval '151 seconds'`;
    const after = await Promise.all(Array.from({ length: 6 }, () => currentBundle(home)));
    expect(new Set(after.map((each) => each.sequence))).toEqual(new Set([before.sequence + 1]));
    expect(new Set(after.map((each) => each.token)).size).toBe(1);
    await verified(after[0]?.token ?? '', { bundle: trusted.bundle });
  });

  it('is signed again at once when a key of a principal is revoked, and names it', async () => {
    const alice = await addPrincipal(home, 'alice');
    const before = await currentBundle(home);
    await home.db.sql`update home.principal_keys set revoked_at = hearth_now() where home = ${alice.home}`;
    const after = await currentBundle(home);
    expect(after.sequence).toBe(before.sequence + 1);
    const { bundle } = await verified(after.token, { fingerprint: await domainFingerprint(home.db.sql) });
    expect(bundle.revoked.map((entry) => entry.subject)).toEqual(['key://alpha.test/users/alice/1']);
  });
});
