import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPeers, peerBundle, pinPeer, readPeer, strangersKept } from '../../src/federation/index.js';
import { currentBundle } from '../../src/home/index.js';
import { DISCOVERY_PATH, parseDomain, toUtf8 } from '../../src/protocol/index.js';
import { agent, befriend, openWorld, response, say, type TestDomain, type World } from './federation-world.js';
import { seal, sendRaw } from './raw-transaction.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;

beforeEach(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
});
afterEach(() => world.close());

const looks = () => world.network.requests.filter(({ url }) => url.endsWith(DISCOVERY_PATH)).length;
const makeStale = () =>
  alpha.home.db.sql`update federation.peers set refresh_after = hearth_now() where domain = 'beta.test'`;
const stored = () => readPeer(alpha.home.db.sql, beta.name);

describe('a peer', () => {
  it('is looked up once however many ask at once, and again only after its refresh hint', async () => {
    await Promise.all(Array.from({ length: 10 }, () => peerBundle(alpha.gateway.peers, beta.name)));
    await peerBundle(alpha.gateway.peers, beta.name);
    expect(looks()).toBe(1);
    await makeStale();
    await peerBundle(alpha.gateway.peers, beta.name);
    expect(looks()).toBe(2);
  });

  it('is a stranger when it was only looked up, and pinned only by its fingerprint', async () => {
    await peerBundle(alpha.gateway.peers, beta.name);
    expect((await stored())?.relationship).toBe('stranger');
    await pinPeer(alpha.gateway.peers, { domain: beta.name, fingerprint: beta.fingerprint, actor: 'test' });
    expect(await stored()).toMatchObject({ relationship: 'pinned', fingerprint: beta.fingerprint });
  });

  it('with another fingerprint than pinned is held: nothing of it is taken until the operator pins it anew', async () => {
    await befriend(alpha, beta);
    const pinned = await pinPeer(alpha.gateway.peers, {
      domain: beta.name,
      fingerprint: alpha.fingerprint,
      actor: 'test',
    });
    expect(pinned.look).toMatchObject({ ok: false, reason: 'peer_held' });
    const envelope = await seal(beta, { from: agent(beta, 'bob'), to: [agent(alpha, 'ada').address] });
    const refused = await sendRaw(world, { from: beta, to: alpha, envelopes: [envelope] });
    expect([refused.status, refused.code]).toEqual([401, 'unknown_origin']);
    await pinPeer(alpha.gateway.peers, { domain: beta.name, fingerprint: beta.fingerprint, actor: 'test' });
    expect((await sendRaw(world, { from: beta, to: alpha, envelopes: [envelope] })).results[0]?.result).toBe(
      'accepted',
    );
  });

  it('that serves an older bundle is held, and the bundle trusted before stays', async () => {
    const { db, custody, domain } = beta.gateway;
    const old = (await currentBundle({ db, custody, domain })).token;
    await db.sql`update home.domain set bundle_issued_at = hearth_now() - interval '1 hour'`;
    await befriend(alpha, beta);
    const before = (await stored())?.bundle?.sequence;
    await makeStale();
    world.network.fault = ({ url }) => (url.endsWith('/bundle') ? response(200, toUtf8(old)) : undefined);
    expect(await peerBundle(alpha.gateway.peers, beta.name)).toMatchObject({ ok: false, reason: 'peer_held' });
    expect((await stored())?.bundle?.sequence).toBe(before);
    await makeStale();
    world.network.fault = () => undefined;
    expect((await peerBundle(alpha.gateway.peers, beta.name)).ok).toBe(true);
  });

  it('that can’t be reached is used with its last good bundle while that is valid, and not longer', async () => {
    await befriend(alpha, beta);
    world.network.fault = () => 'drop';
    await makeStale();
    expect((await peerBundle(alpha.gateway.peers, beta.name)).ok).toBe(true);
    await alpha.home.db.sql`update federation.peers set bundle_valid_until = hearth_now() where domain = 'beta.test'`;
    expect(await peerBundle(alpha.gateway.peers, beta.name)).toMatchObject({ ok: false, reason: 'peer_unreachable' });
  });

  it('may be pinned while it is down, and messages to it wait', async () => {
    world.network.fault = () => 'drop';
    const { look } = await pinPeer(alpha.gateway.peers, {
      domain: beta.name,
      fingerprint: beta.fingerprint,
      actor: 'test',
    });
    expect(look).toMatchObject({ ok: false, reason: 'peer_unreachable' });
    const said = await say(alpha, {
      from: agent(alpha, 'ada'),
      to: agent(beta, 'bob'),
      type: 'message',
      input: { text: 'later' },
    });
    expect(said.message_id).toMatch(/^msg_/);
  });

  it('whose unknown keys are named is asked again at most once in 60 s', async () => {
    await befriend(alpha, beta);
    const before = looks();
    for (let n = 0; n < 5; n += 1) await peerBundle(alpha.gateway.peers, beta.name, `${n}`.repeat(43));
    expect(looks()).toBe(before + 1);
  });
});

describe('unknown domains', () => {
  it('that don’t answer are not asked again, and leave no row', async () => {
    const nowhere = parseDomain('nowhere.test');
    if (!nowhere) throw new Error('no domain');
    for (let n = 0; n < 5; n += 1) await peerBundle(alpha.gateway.peers, nowhere);
    // One quick second try belongs to the look itself.
    expect(looks()).toBe(2);
    expect(await readPeer(alpha.home.db.sql, nowhere)).toBeUndefined();
  });

  it('are kept up to a bound as strangers; those seen longest ago make room, pinned ones never', async () => {
    await alpha.home.db.sql`
      insert into federation.peers (domain, relationship, updated_at)
      select 's' || n || '.test', 'stranger', hearth_now() - interval '1 day' from generate_series(1, ${strangersKept}) n`;
    await peerBundle(createPeers(alpha.gateway), beta.name);
    const [row] = await alpha.home.db.sql`
      select count(*) filter (where relationship = 'stranger')::int as strangers,
             count(*) filter (where domain = 'beta.test')::int as beta,
             count(*) filter (where relationship = 'pinned')::int as pinned
        from federation.peers`;
    expect(row).toEqual({ strangers: strangersKept, beta: 1, pinned: 1 });
  });
});
