// How the target reads the bundles of domains that it sees for the first time: each has one thing wrong.
import { holds, refused, rejected, resultIs, same } from '../expect.js';
import type { BundleDraft } from '../peer/bundle.js';
import { bundleKey } from '../peer/bundle.js';
import { type CertificateFault, certificateOf, sealEnvelope } from '../peer/played-agent.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { base64url } from '../wire/encoding.js';
import { nowInSeconds } from '../wire/http-signature.js';
import { smallOrderKey, thumbprintOf } from '../wire/keys.js';
import { instantIn } from '../wire/time.js';

const directory = '/federation/v1/directory';
const day = 86_400;

type Wrong = readonly [id: string, what: string, draft: (domain: PlayedDomain) => Partial<BundleDraft>];

export const readingBundles: Scenario = {
  name: 'reading-bundles',
  about: 'the target refuses every bundle that is not as it should be, and uses keys only in their time',
  needs: ['reachable'],
  checks: [
    ...[3, 4, 8, 10, 15, 16, 17, 19, 20, 21, 23, 24, 25, 34].map((number) => `KEYS-${number}`),
    ...['KEYS-1', 'REQUESTS-10'],
  ],
  async run(stage, checks) {
    for (const [index, [id, what, draft]] of wrongBundles.entries()) {
      const domain = stage.play(`bundle-${index + 1}`);
      domain.publish(draft(domain));
      await checks.check(id, what, async () => refused(await domain.get(directory), 401));
    }
    await keyTimes(stage, checks);
    await oldKeys(stage, checks);
  },
};

const change = (members: Record<string, unknown>) => () => ({ change: members });
const withKey = (members: Record<string, unknown>) => (domain: PlayedDomain) => ({
  keys: [{ key: domain.key, change: members }],
});

const wrongBundles: readonly Wrong[] = [
  ['KEYS-1', 'a key of another curve is refused', withKey({ crv: 'X25519' })],
  [
    'KEYS-3',
    'a key of small order is refused',
    (domain) => {
      const keys = [
        bundleKey({ key: domain.key }),
        { ...bundleKey({ key: domain.key }), x: smallOrderKey.x, kid: thumbprintOf(smallOrderKey.x) },
      ];
      return { change: { keys } };
    },
  ],
  ['KEYS-4', 'a private key in it is refused', (domain) => withKey({ d: base64url(domain.key.seed) })(domain)],
  [
    'KEYS-8',
    'a bundle that a current key has not signed is refused',
    (domain) => ({
      keys: [{ key: domain.key }, { key: domain.otherKey('second') }],
      signers: [domain.key],
    }),
  ],
  [
    'KEYS-10',
    'a first contact that first_kid has not signed is refused',
    (domain) => ({ first: domain.otherKey('first') }),
  ],
  [
    'KEYS-10',
    'a first contact that revokes first_kid is refused',
    (domain) => ({
      keys: [{ key: domain.otherKey('second') }],
      signers: [domain.otherKey('second'), domain.key],
      change: { revoked: [{ subject: domain.key.kid, revoked_at: instantIn(-60), reason: '' }] },
    }),
  ],
  ['KEYS-15', 'an expired bundle is refused', change({ issued_at: instantIn(-7_200), valid_until: instantIn(-60) })],
  ['KEYS-16', 'a bundle issued 310 s ahead is refused', () => ({ change: { issued_at: instantIn(330) } })],
  [
    'KEYS-17',
    'a bundle that is valid for more than seven days is refused',
    () => ({
      change: { issued_at: instantIn(-1), valid_until: instantIn(7 * day + 5) },
    }),
  ],
  [
    'KEYS-19',
    'a bundle with 17 keys is refused',
    (domain) => ({
      keys: [{ key: domain.key }, ...Array.from({ length: 16 }, (_, index) => ({ key: domain.otherKey(`${index}`) }))],
    }),
  ],
  [
    'KEYS-20',
    'a key under another kid is refused',
    (domain) => withKey({ kid: domain.otherKey('second').kid })(domain),
  ],
  [
    'KEYS-20',
    'a key that is named twice is refused',
    (domain) => ({ keys: [{ key: domain.key }, { key: domain.key }] }),
  ],
  [
    'KEYS-20',
    'a key that is current and revoked is refused',
    (domain) => ({
      keys: [{ key: domain.key }, { key: domain.otherKey('second') }],
      change: { revoked: [{ subject: domain.otherKey('second').kid, revoked_at: instantIn(-60), reason: '' }] },
    }),
  ],
  ['KEYS-21', 'a bundle of another domain is refused', change({ domain: 'elsewhere.test' })],
];

async function keyTimes(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('bundle-17');
  const [early, late] = [domain.otherKey('early'), domain.otherKey('late')];
  const now = nowInSeconds();
  domain.publish({ keys: [{ key: domain.key }, { key: early, nbf: now + 3_600 }, { key: late, exp: now - 60 }] });
  const by = (key: typeof early) => domain.get(directory, { key, keyid: `key://${domain.name}/domain/${key.kid}` });
  await check('KEYS-25', 'a key in its time is used', async () =>
    same((await by(domain.key)).status, 200, 'the status'),
  );
  await check('KEYS-25', 'a key before its nbf is not used', async () => refused(await by(early), 401));
  await check('KEYS-25', 'a key after its exp is not used', async () => refused(await by(late), 401));
  await check('REQUESTS-10', 'a request by a key whose time is over is refused', async () =>
    refused(await by(late), 401),
  );
}

/** A stranger's verified messages are parked: enough to see what its certificates are worth. */
async function oldKeys(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('bundle-18');
  const [retired, revoked] = [domain.otherKey('retired'), domain.otherKey('revoked')];
  const [one, two, three] = [domain.agent('one'), domain.agent('two'), domain.agent('three')];
  const revokedAt = { revoked_at: instantIn(-600), reason: '' };
  domain.publish({
    change: {
      retired_keys: [
        { ...bundleKey({ key: retired }), expired_at: instantIn(-1_800) },
        { ...bundleKey({ key: revoked }), expired_at: instantIn(-60) },
      ],
      revoked: [revoked.kid, two.principalId, three.keyRef].map((subject) => ({ subject, ...revokedAt })),
    },
  });
  const now = nowInSeconds();
  const send = (from: typeof one, certificate: string) =>
    domain.put({ envelopes: [sealEnvelope({ from, to: [stage.quiet] }).wire], certificates: [certificate] });
  const at = (ago: number): CertificateFault => ({ claims: { iat: now - ago, exp: now + 3_600 } });
  await check('KEYS-23', 'a retired key verifies what was issued before it retired', async () =>
    resultIs(await send(one, certificateOf(one, retired, at(3_600))), 'parked'),
  );
  await check('KEYS-23', 'a retired key verifies nothing that was issued later', async () =>
    rejected(await send(one, certificateOf(one, retired, at(600))), ['certificate_missing', 'certificate_invalid']),
  );
  await check('KEYS-24', 'a revoked key verifies nothing, whenever it was issued', async () =>
    rejected(await send(one, certificateOf(one, revoked, at(3_600))), ['certificate_missing', 'certificate_invalid']),
  );
  for (const [what, agent] of [
    ['principal', two],
    ['key reference', three],
  ] as const) {
    await check('KEYS-34', `a certificate of a revoked ${what} is refused`, async () =>
      rejected(await send(agent, certificateOf(agent, domain.key)), ['certificate_missing', 'certificate_invalid']),
    );
  }
  await check('KEYS-24', 'a request signed by a revoked key is refused', async () => {
    const reply = await domain.get(directory, { key: revoked, keyid: `key://${domain.name}/domain/${revoked.kid}` });
    holds(reply.status === 401, `it was answered ${reply.status}`);
  });
}
