import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  agentHomeRecord,
  createAgent,
  endAgent,
  homeAgentDirectory,
  homePlacements,
  listAgentHomes,
  listMessages,
  messageOfTransport,
  pauseAgent,
  principalByAddress,
  resumeAgent,
  storeMessage,
} from '../../src/home/index.js';
import { toUtf8 } from '../../src/protocol/index.js';
import { addAgent, addPrincipal, type HomeFixture, openHome } from './home-fixture.js';

describe('an Agent Home', () => {
  let home: HomeFixture;
  let count = 0;
  beforeAll(async () => {
    home = await openHome();
    await addPrincipal(home, 'alice');
  });
  afterAll(() => home.close());

  const alice = 'human://alpha.test/users/alice';

  function request(owner: string) {
    count += 1;
    return {
      name: `agent-${count}`,
      owner,
      runtime: { id: 'scripted', config: { rules: [{ when: { type: 'a.b' }, steps: [] }] } },
      attention: { whenActive: 'steer' as const },
      grants: [{ action: 'http.post', target: 'http://127.0.0.1/*' }],
      actor: alice,
    };
  }

  it('D1: is a durable record with every field, before anything has run', async () => {
    const created = await createAgent(home, { ...request(alice), name: 'planner' });
    if (!created.ok) throw new Error(created.detail);
    expect(await agentHomeRecord(home.db.sql, created.principal.address)).toEqual({
      agent_id: 'agent://alpha.test/agents/planner',
      principal_id: created.principal.principalId,
      home_domain: 'alpha.test',
      owner: alice,
      status: 'active',
      key_refs: ['key://alpha.test/agents/planner/1'],
      mailbox_ref: 'mailbox://alpha.test/planner',
      memory_refs: [],
      relationship_refs: [],
      capability_grants: [{ action: 'http.post', target: 'http://127.0.0.1/*' }],
      commitment_cursor: 0,
      runtime_lineage_ref: 'lineage://alpha.test/planner',
      placement_lease_id: null,
      placement_epoch: null,
      environment_refs: [],
      latest_audit_cursor: null,
      runtime: { id: 'scripted', config: { rules: [{ when: { type: 'a.b' }, steps: [] }] } },
      attention: {
        when_active: 'steer',
        lane_order: 'arrival',
        merge_window_ms: 0,
        strangers: 'wake',
        stale_after_ms: null,
        budget: null,
        duplicate_window_ms: null,
        urgent_within_ms: null,
        least_worth: null,
      },
    });
  });

  it('shows its placement once a host has it', async () => {
    const agent = await addAgent(home, 'placed');
    const [fence] = await home.db.transact('test', (tx) => homePlacements(home).claim(tx, 'host', [agent.home]));
    expect(await agentHomeRecord(home.db.sql, agent.address)).toMatchObject({
      placement_lease_id: fence?.placementLeaseId,
      placement_epoch: 1,
    });
  });

  it('is refused an owner who is no active human of this domain', async () => {
    const agent = await addAgent(home, 'not-an-owner');
    const gone = await addPrincipal(home, 'gone');
    await home.db.sql`update home.principals set status = 'ended' where home = ${gone.home}`;
    for (const owner of [
      agent.address,
      gone.address,
      'human://alpha.test/users/nobody',
      'human://beta.test/users/alice',
    ]) {
      expect(await createAgent(home, request(owner))).toMatchObject({ ok: false, reason: 'owner_unknown' });
    }
  });

  it('is listed in the order of addresses, page by page, for one owner and tenant', async () => {
    await addPrincipal(home, 'bob');
    const bob = 'human://alpha.test/users/bob';
    for (const name of ['bobs-2', 'bobs-1', 'bobs-3']) await createAgent(home, { ...request(bob), name });
    const first = await listAgentHomes(home.db.sql, { owner: bob, tenant: 'default', limit: 2 });
    const rest = await listAgentHomes(home.db.sql, { owner: bob, after: first.at(-1)?.agent_id, limit: 2 });
    expect([...first, ...rest].map((record) => record.agent_id)).toEqual(
      ['bobs-1', 'bobs-2', 'bobs-3'].map((name) => `agent://alpha.test/agents/${name}`),
    );
    expect(rest[0]).toEqual(await agentHomeRecord(home.db.sql, 'agent://alpha.test/agents/bobs-3'));
    expect(await listAgentHomes(home.db.sql, { tenant: 'other', limit: 2 })).toEqual([]);
  });

  it('is what the Foundation finds by home, and by address within its tenant only', async () => {
    const created = await createAgent(home, request(alice));
    if (!created.ok) throw new Error(created.detail);
    const { home: tag, address, tenant } = created.principal;
    const directory = homeAgentDirectory();
    const definition = await directory.byHome(home.db.sql, tag);
    expect(definition).toEqual({
      home: tag,
      agent: address,
      tenant,
      status: 'active',
      runtime: { id: 'scripted', config: { rules: [{ when: { type: 'a.b' }, steps: [] }] } },
      attention: { whenActive: 'steer' },
      grants: [{ action: 'http.post', target: 'http://127.0.0.1/*' }],
    });
    expect(await directory.byAgent(home.db.sql, tenant, address)).toEqual(definition);
    expect(await directory.byAgent(home.db.sql, 'other', address)).toBeUndefined();
    expect(await directory.byAgent(home.db.sql, tenant, alice)).toBeUndefined();
  });

  it('D1: receives while no runtime exists, and while it is paused', async () => {
    const agent = await addAgent(home, 'asleep');
    await pauseAgent(home.db, { address: agent.address, actor: alice });
    const message = messageOfTransport({
      home: agent.home,
      domain: 'alpha.test',
      sender: alice,
      sourceEventId: 'evt-1',
      type: 'note',
      contentType: 'text/plain',
      facts: {},
      body: toUtf8('hello'),
    });
    await home.db.transact('test', (tx) => storeMessage(tx, message));
    expect((await listMessages(home.db.sql, agent.home, { limit: 5 })).messages).toHaveLength(1);
    expect(await agentHomeRecord(home.db.sql, agent.address)).toMatchObject({ placement_lease_id: null });
  });

  it('is paused, resumed and ended by guarded moves, each audited, and never leaves its end', async () => {
    const agent = await addAgent(home, 'mover');
    const change = { address: agent.address, actor: alice };
    expect(await resumeAgent(home.db, change)).toMatchObject({ ok: false, reason: 'wrong_status' });
    expect(await pauseAgent(home.db, change)).toMatchObject({ ok: true, principal: { status: 'paused' } });
    expect((await homeAgentDirectory().byHome(home.db.sql, agent.home))?.status).toBe('paused');
    expect(await resumeAgent(home.db, change)).toMatchObject({ ok: true });
    expect(await endAgent(home.db, change)).toMatchObject({ ok: true });
    expect(await resumeAgent(home.db, change)).toMatchObject({ ok: false, reason: 'wrong_status' });
    expect((await principalByAddress(home.db.sql, agent.address))?.status).toBe('ended');
    const audited = await home.db.sql<{ action: string }[]>`
      select action
        from foundation.audit_entries
       where home = ${agent.home}
       order by at`;
    expect(audited.map((row) => row.action)).toEqual(['principal.create', 'agent.pause', 'agent.resume', 'agent.end']);
  });

  it('has its standing subscriptions from the commit that creates it', async () => {
    const subscriptions = [
      { type: 'github.*' },
      { type: 'github.push', subject: 'github:a/b', whenActive: 'fork' as const },
    ];
    const created = await createAgent(home, { ...request(alice), subscriptions });
    if (!created.ok) throw new Error(created.detail);
    const rows = await home.db.sql`
      select type, subject, when_active
        from foundation.subscriptions
       where home = ${created.principal.home}
         and owner = 'agent'
       order by type`;
    expect([...rows]).toEqual([
      { type: 'github.*', subject: null, whenActive: null },
      { type: 'github.push', subject: 'github:a/b', whenActive: 'fork' },
    ]);
  });

  it('has no status moves for who is no agent', async () => {
    expect(await pauseAgent(home.db, { address: alice, actor: alice })).toMatchObject({ reason: 'agent_unknown' });
  });
});
