import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPrincipal,
  currentBundle,
  currentPrincipalKey,
  directoryFor,
  domainFingerprint,
  listMessages,
  listPrincipals,
  principalByAddress,
  principalByHome,
  principalById,
  principalCertifier,
} from '../../src/home/index.js';
import {
  digestOf,
  fromBase64url,
  genesisRecordSchema,
  keyPairFromSeed,
  parseStrictJson,
  principalIdOf,
  verifyAgentKeyCertificate,
  verifyBundle,
} from '../../src/protocol/index.js';
import { addAgent, addPrincipal, type HomeFixture, openHome } from './home-fixture.js';

describe('a principal', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  it('has an id made of its genesis, in which its recovery key is present only as a hash', async () => {
    const created = await createPrincipal(home, { kind: 'human', name: 'alice', actor: 'test' });
    if (!created.ok) throw new Error(created.detail);
    const { principal, recoveryKey } = created;
    const [row] = await home.db.sql<{ genesis: Uint8Array }[]>`
      select genesis
        from home.principals
       where home = ${principal.home}`;
    const genesis = genesisRecordSchema.parse(parseStrictJson(row?.genesis ?? '', { maxBytes: 4_096 }));
    const recovery = keyPairFromSeed(fromBase64url(recoveryKey) ?? new Uint8Array());
    expect(principalIdOf(genesis)).toBe(principal.principalId);
    expect(genesis.recovery_key_hash).toBe(digestOf(recovery.publicKey.bytes));
    expect(genesis.first_key.x).toBe((await currentPrincipalKey(home.db.sql, principal.home))?.publicJwk.x);
  });

  it('D2: is found by address, home and id, and is written to the audit log', async () => {
    const bob = await addPrincipal(home, 'bob');
    expect(await principalByAddress(home.db.sql, bob.address)).toEqual(bob);
    expect(await principalByHome(home.db.sql, bob.home)).toEqual(bob);
    expect(await principalById(home.db.sql, bob.principalId)).toEqual(bob);
    const audited = await home.db.sql`
      select actor, action, outcome
        from foundation.audit_entries
       where home = ${bob.home}`;
    expect([...audited]).toEqual([{ actor: 'test', action: 'principal.create', outcome: 'created' }]);
  });

  it('D3: has a mailbox from the first moment', async () => {
    const service = await addPrincipal(home, 'feed', 'service');
    expect(service.address).toBe('service://alpha.test/feed');
    expect(await listMessages(home.db.sql, service.home, { limit: 10 })).toEqual({ messages: [], next: 0, last: 0 });
  });

  it('D1: never gets an address that was given before, not even one whose principal has ended', async () => {
    const carol = await addPrincipal(home, 'carol');
    await home.db.sql`update home.principals set status = 'ended' where home = ${carol.home}`;
    expect(await createPrincipal(home, { kind: 'human', name: 'carol', actor: 'test' })).toMatchObject({
      ok: false,
      reason: 'address_taken',
    });
  });

  it('D1: gets an address once when many ask for it at the same time, and leaves nothing of the others', async () => {
    const asked = Array.from({ length: 8 }, () => createPrincipal(home, { kind: 'human', name: 'dan', actor: 'test' }));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    const [counted] = await home.db.sql`
      select (select count(*) from home.principals) = (select count(*) from home.mailboxes) as same`;
    expect(counted).toEqual({ same: true });
  });

  it('is refused a name outside the grammar, a role that is not for it and an empty display name', async () => {
    for (const name of ['', 'Alice', 'a/b', '.a', 'a'.repeat(65), 'ä', 'a b']) {
      expect(await createPrincipal(home, { kind: 'human', name, actor: 'test' })).toMatchObject({
        reason: 'name_invalid',
      });
    }
    expect(
      await createPrincipal(home, { kind: 'service', name: 'x', roles: ['operator'], actor: 'test' }),
    ).toMatchObject({
      reason: 'request_invalid',
    });
    expect(await createPrincipal(home, { kind: 'human', name: 'x', displayName: ' ', actor: 'test' })).toMatchObject({
      reason: 'request_invalid',
    });
  });

  it('is listed page by page, each once, of the kind asked for', async () => {
    for (const name of ['p1', 'p2', 'p3']) await addPrincipal(home, name, 'service');
    const seen: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await listPrincipals(home.db.sql, { kind: 'service', after, limit: 2 });
      seen.push(...page.map((principal) => principal.address));
      after = page.at(-1)?.address;
      if (page.length < 2) break;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(['service://alpha.test/p1', 'service://alpha.test/p3']));
    expect(seen.every((address) => address.startsWith('service://'))).toBe(true);
  });
});

describe('the directory', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
    for (const visibility of ['public', 'peers', 'hidden'] as const) {
      await createPrincipal(home, { kind: 'human', name: visibility, visibility, actor: 'test' });
    }
    const gone = await addPrincipal(home, 'gone');
    await home.db.sql`update home.principals set status = 'ended', visibility = 'public' where home = ${gone.home}`;
  });
  afterAll(() => home.close());

  it.each([
    ['public', ['public']],
    ['peer', ['peers', 'public']],
    ['operator', ['hidden', 'peers', 'public']],
  ] as const)('shows %s what its visibility allows', async (asker, names) => {
    const page = await directoryFor(home.db.sql, asker, { limit: 10 });
    expect(page.entries.map((entry) => entry.address)).toEqual(names.map((name) => `human://alpha.test/users/${name}`));
    expect(page.next).toBeUndefined();
  });

  it('gives its pages by cursor', async () => {
    const first = await directoryFor(home.db.sql, 'operator', { limit: 2 });
    const second = await directoryFor(home.db.sql, 'operator', { limit: 2, after: first.next });
    expect([...first.entries, ...second.entries]).toHaveLength(3);
    expect(second.next).toBeUndefined();
  });
});

describe('an agent key certificate', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  it('D2: verifies against the domain bundle alone and names address, principal and key', async () => {
    const agent = await addAgent(home, 'planner');
    const token = await principalCertifier(home).agentKeyCertificate(agent);
    const now = new Date();
    const read = await verifyBundle((await currentBundle(home)).token, {
      domain: home.domain.name,
      now,
      pinned: { fingerprint: await domainFingerprint(home.db.sql) },
    });
    if (!read.ok) throw new Error(read.detail);
    const verified = await verifyAgentKeyCertificate(token ?? '', { bundle: read.bundle, now });
    expect(verified).toMatchObject({
      ok: true,
      address: agent.address,
      principalId: agent.principalId,
      keyRef: 'key://alpha.test/agents/planner/1',
    });
  });

  it('is reused for a short while, and no longer given once the key is revoked', async () => {
    const agent = await addAgent(home, 'revoked');
    const certifier = principalCertifier(home);
    const token = await certifier.agentKeyCertificate(agent);
    expect(await certifier.agentKeyCertificate(agent)).toBe(token);
    await home.db.sql`update home.principal_keys set revoked_at = hearth_now() where home = ${agent.home}`;
    expect(await certifier.agentKeyCertificate(agent)).toBeUndefined();
  });
});
