// Keys that retired, were revoked, or were never the sender's (BR-04, BR-09): what they signed is judged by the bundle and the
// certificate that hold now, never by what a message says.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  DISCOVERY_PATH,
  type DomainBundle,
  describeDomain,
  formatInstant,
  sealBundle,
} from '../../src/protocol/index.js';
import { bundleKey, certify, type HostileAgent, newKey, sealHostile } from '../support/hostile-peer.js';
import { deliver, fromEve, type HostileWorld, hana, openHostileWorld, rowsLeftBy } from './hostile-world.js';

let world: HostileWorld;
let agent: HostileAgent;

beforeAll(async () => {
  world = await openHostileWorld();
});
beforeEach(() => {
  agent = world.friend.agent('lea');
});
afterAll(() => world.close());

const HOUR = 3_600_000;
const now = () => world.friend.now();
const ago = (ms: number) => new Date(now().getTime() - ms);
const letter = (issuedAt: Date) =>
  sealHostile(world.friend, {
    from: agent,
    to: [hana],
    draft: { issued_at: formatInstant(issuedAt), expires_at: formatInstant(new Date(now().getTime() + HOUR)) },
  });
const answered = async (envelopes: readonly unknown[], certificates: readonly unknown[]) => {
  const { status, code, results } = await deliver(world, { peer: world.friend, envelopes, certificates });
  return status === 200 ? results.map((result) => result.code ?? result.result) : [status, code];
};
/** The next bundle is fetched now, as after its refresh hint. */
const refreshed = () => world.dial(301_000);
const published = (change: Partial<DomainBundle>, signers = [world.friend.key]) => {
  world.friend.publish(change, signers);
  return refreshed();
};

describe('BR-04: an agent key', () => {
  it('that retired at T still proves what was issued before T and delivered late, and nothing issued at T or after', async () => {
    const retired = ago(HOUR);
    const certificate = await certify(world.friend, { agent, keyExp: retired });
    const before = await letter(ago(2 * HOUR));
    const after = await letter(ago(HOUR / 2));
    const exactly = await letter(new Date(Math.floor(retired.getTime() / 1000) * 1000));
    expect(await answered([before, after, exactly], [certificate])).toEqual(['accepted', 'key_invalid', 'key_invalid']);
  });

  it('proves nothing from before it was valid', async () => {
    const certificate = await certify(world.friend, { agent, keyNbf: ago(HOUR) });
    expect(await answered([await letter(ago(2 * HOUR))], [certificate])).toEqual(['key_invalid']);
  });

  it('that was revoked proves nothing at once, whenever it was issued; so does every key of a revoked principal', async () => {
    for (const subject of [agent.keyRef, agent.principalId]) {
      const [before, after] = [await letter(ago(2 * HOUR)), await letter(now())];
      await published({ revoked: [{ subject, revoked_at: formatInstant(now()), reason: 'compromised' }] });
      expect(await answered([before, after], [await certify(world.friend, { agent })])).toEqual([
        'certificate_missing',
        'certificate_missing',
      ]);
      await published({});
      expect(await answered([before], [await certify(world.friend, { agent })])).toEqual(['accepted']);
    }
  });

  it('is not proved by a certificate that expired, lies ahead or is signed by no key of the domain', async () => {
    const envelope = await letter(now());
    for (const certificate of [
      await certify(world.friend, { agent, issuedAt: ago(2 * HOUR) }),
      await certify(world.friend, { agent, issuedAt: new Date(now().getTime() + HOUR) }),
      await certify(world.friend, { agent, by: newKey() }),
      await certify(world.friend, { agent, by: world.evil.key }),
    ]) {
      expect(await answered([envelope], [certificate])).toEqual(['certificate_missing']);
    }
  });
});

describe('BR-04: a domain key', () => {
  it('that retired still verifies the certificates it signed before, signs no request, and once revoked verifies nothing', async () => {
    const { friend } = world;
    const next = newKey();
    const keys = [bundleKey(next, now())];
    const old = friend.key;
    const early = await certify(friend, { agent, issuedAt: ago(60_000) });
    const expired_at = formatInstant(ago(30_000));
    await published({ keys, retired_keys: [{ ...bundleKey(old, now()), expired_at }] }, [old, next]);
    const late = await certify(friend, { agent, issuedAt: ago(1_000), by: old });
    const send = async (certificates: string[], by = next) => {
      const { status, code, results } = await deliver(world, {
        peer: friend,
        envelopes: [await letter(now())],
        certificates,
        by,
      });
      return status === 200 ? (results[0]?.code ?? results[0]?.result) : code;
    };
    expect(await send([early])).toBe('accepted');
    expect(await send([late])).toBe('certificate_missing');
    expect(await send([early], old)).toBe('signature_invalid');
    await published(
      {
        keys,
        retired_keys: [{ ...bundleKey(old, now()), expired_at }],
        revoked: [{ subject: old.kid, revoked_at: expired_at, reason: 'stolen' }],
      },
      [next],
    );
    expect(await send([early])).toBe('certificate_missing');
    expect(await send([await certify(friend, { agent, by: next })])).toBe('accepted');
  });
});

describe('BR-09: bundles and documents that speak for somebody else', () => {
  it('a domain whose bundle names another, or whose document redirects, is not known, and nothing of it is kept', async () => {
    const { stranger, evil, domain } = world;
    const facts = (name: typeof evil.domain) =>
      ({ domain: name, gateway: `https://${name}`, first_contact: 'quarantine', software: 'x', contact: '' }) as const;
    const bundleOf = async (name: typeof evil.domain) =>
      sealBundle(
        {
          domain: name,
          sequence: '9',
          issued_at: formatInstant(now()),
          valid_until: formatInstant(new Date(now().getTime() + HOUR)),
          refresh_hint_s: 300,
          first_kid: stranger.key.kid,
          keys: [bundleKey(stranger.key, now())],
          retired_keys: [],
          revoked: [],
        },
        [stranger.key],
      );
    const lies = [
      async (path: string) =>
        path.endsWith('/bundle') ? { status: 200, body: await bundleOf(evil.domain) } : undefined,
      (path: string) =>
        path === DISCOVERY_PATH ? { status: 200, body: JSON.stringify(describeDomain(facts(evil.domain))) } : undefined,
      (path: string) =>
        path === DISCOVERY_PATH
          ? { status: 302, headers: { location: `https://${evil.domain}${DISCOVERY_PATH}` } }
          : undefined,
      (path: string) =>
        path.endsWith('/bundle')
          ? { status: 307, headers: { location: `https://${evil.domain}/federation/v1/bundle` } }
          : undefined,
    ];
    const envelope = await sealHostile(stranger, { from: world.sid, to: [hana] });
    for (const lie of lies) {
      stranger.answer = ({ path }) => lie(path);
      const left = await rowsLeftBy(domain, async () => {
        const { status, code } = await deliver(world, { peer: stranger, envelopes: [envelope] });
        expect([status, code]).toEqual([401, 'unknown_origin']);
      });
      expect(left).toEqual({});
      // Past the time for which an unknown domain that failed is not asked again.
      world.domain.running.layers.gateway.peers.silent.clear();
    }
    stranger.answer = () => undefined;
    expect((await deliver(world, { peer: stranger, envelopes: [envelope] })).results[0]?.result).toBe('parked');
  });

  it('a new key without the signature of one known before holds the domain: it is not taken over', async () => {
    const thief = newKey();
    world.evil.publish({ keys: [bundleKey(thief, now())] }, [thief]);
    await refreshed();
    const answer = await deliver(world, { peer: world.evil, envelopes: [await fromEve(world)], by: thief });
    expect([answer.status, answer.code]).toEqual([401, 'unknown_origin']);
    const held = await world.domain.api('GET', '/admin/v1/peers/evil.test');
    expect(held.text('held_reason')).toContain('bundle_continuity_broken');
  });
});

describe('looking domains up', () => {
  it('16 silent strangers do not keep a pinned domain from being looked up', async () => {
    const { domain } = world;
    const { peers } = domain.running.layers.gateway;
    const never = new Promise<undefined>(() => undefined);
    for (let n = 0; n < 16; n += 1) peers.underWay.set(`s${n}.test` as never, never);
    world.friend.publish({ keys: [bundleKey(world.friend.key, now())] }, [world.friend.key]);
    await domain.test.database
      .sql`update federation.peers set bundle_valid_until = hearth_now(), refresh_after = hearth_now(), held_reason = null where domain = 'friend.test'`;
    const look = await domain.api('POST', '/admin/v1/peers', {
      body: { domain: 'friend.test', fingerprint: world.friend.fingerprint },
    });
    peers.underWay.clear();
    expect(JSON.stringify(look.body.look)).not.toContain('too many domains');
  });
});
