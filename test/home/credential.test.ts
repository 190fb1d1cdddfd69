import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  authenticate,
  type CredentialIssued,
  ensureOperator,
  type IssueCredential,
  issueCredential,
  listCredentials,
  revokeCredential,
} from '../../src/home/index.js';
import { addAgent, addPrincipal, type HomeFixture, openHome } from './home-fixture.js';

describe('a credential', () => {
  let home: HomeFixture;
  const feed = 'service://alpha.test/feed';
  const alice = 'human://alpha.test/users/alice';

  beforeAll(async () => {
    home = await openHome();
    await addPrincipal(home, 'feed', 'service');
    await addPrincipal(home, 'alice');
  });
  afterAll(() => home.close());

  async function issue(request: Partial<IssueCredential>): Promise<CredentialIssued> {
    const issued = await issueCredential(home, {
      kind: 'person',
      principal: alice,
      label: '',
      actor: 'test',
      ...request,
    });
    if (!issued.ok) throw new Error(issued.detail);
    return issued;
  }

  it('proves its principal, tenant and, for a producer, its source', async () => {
    const { id, token } = await issue({ kind: 'producer', principal: feed, source: 'https://feed.example/' });
    expect(token).toMatch(/^hearth_producer_[A-Za-z0-9_-]{43}$/);
    expect(await authenticate(home.db.sql, token)).toMatchObject({
      kind: 'producer',
      credentialId: id,
      tenant: 'default',
      address: feed,
      roles: [],
      source: 'https://feed.example/',
    });
    const person = await authenticate(home.db.sql, (await issue({})).token);
    expect(person).toMatchObject({ kind: 'person', address: alice });
    expect(person).not.toHaveProperty('source');
  });

  it('proves nothing when unknown, altered, revoked, expired, or when its principal has ended', async () => {
    const { id, token } = await issue({});
    const last = token.endsWith('A') ? 'E' : 'A';
    for (const wrong of [
      '',
      'hearth_person_',
      `${token}A`,
      token.slice(0, -1) + last,
      token.replace('person', 'operator'),
    ]) {
      expect(await authenticate(home.db.sql, wrong)).toBeUndefined();
    }
    expect(await revokeCredential(home.db, { id, actor: 'test' })).toBe(true);
    expect(await revokeCredential(home.db, { id, actor: 'test' })).toBe(false);
    expect(await authenticate(home.db.sql, token)).toBeUndefined();

    const expired = await issue({ expiresAt: new Date(home.clock.now().getTime() - 1) });
    expect(await authenticate(home.db.sql, expired.token)).toBeUndefined();

    await addPrincipal(home, 'gone');
    const gone = await issue({ principal: 'human://alpha.test/users/gone' });
    await home.db.sql`update home.principals set status = 'ended' where address = 'human://alpha.test/users/gone'`;
    expect(await authenticate(home.db.sql, gone.token)).toBeUndefined();
  });

  it('is issued only to a principal that fits its kind', async () => {
    const agent = await addAgent(home, 'planner');
    const cases: [IssueCredential['kind'], string][] = [
      ['producer', alice],
      ['producer', agent.address],
      ['person', feed],
      ['operator', alice],
      ['operator', feed],
    ];
    for (const [kind, principal] of cases) {
      expect(await issueCredential(home, { kind, principal, label: '', actor: 'test' })).toMatchObject({
        reason: 'principal_unfit',
      });
    }
    expect(await issueCredential(home, { kind: 'person', principal: 'x', label: '', actor: 'test' })).toMatchObject({
      reason: 'principal_unknown',
    });
  });

  it('is listed without its token or its hash', async () => {
    const { token } = await issue({ label: 'laptop' });
    const listed = await listCredentials(home.db.sql, { limit: 100 });
    expect(listed.some((credential) => credential.label === 'laptop')).toBe(true);
    expect(JSON.stringify(listed)).not.toContain(token.slice(-43));
    expect(Object.keys(listed[0] ?? {})).not.toContain('tokenHash');
  });
});

describe('the first operator', () => {
  let home: HomeFixture;
  beforeAll(async () => {
    home = await openHome();
  });
  afterAll(() => home.close());

  it('gets a token at the first start, none while it holds, and a new one when all are revoked', async () => {
    const made = await ensureOperator(home);
    expect(made?.address).toBe('human://alpha.test/users/operator');
    expect(made?.recoveryKey).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const caller = await authenticate(home.db.sql, made?.token ?? '');
    expect(caller).toMatchObject({ kind: 'operator', roles: ['operator'] });
    expect(await ensureOperator(home)).toBeUndefined();
    await revokeCredential(home.db, { id: caller?.credentialId ?? '', actor: 'test' });
    const again = await ensureOperator(home);
    expect(again?.token).not.toBe(made?.token);
    expect(again).not.toHaveProperty('recoveryKey');
  });

  it('gets another token when the first was lost, and the lost one ends', async () => {
    await home.db.sql`update home.credentials set revoked_at = hearth_now()`;
    const lost = await ensureOperator(home);
    const made = await ensureOperator(home, { replace: true });
    expect(await authenticate(home.db.sql, lost?.token ?? '')).toBeUndefined();
    expect(await authenticate(home.db.sql, made?.token ?? '')).toMatchObject({ kind: 'operator' });
  });

  it('is no operator any more once it has lost the role', async () => {
    await home.db.sql`update home.credentials set revoked_at = hearth_now()`;
    const made = await ensureOperator(home);
    await home.db.sql`update home.principals set roles = '{}'`;
    expect(await authenticate(home.db.sql, made?.token ?? '')).toBeUndefined();
  });
});
