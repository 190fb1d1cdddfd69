/**
 * Bundles that follow one another: what goes on from an earlier one is believed, what breaks with it is not. Each played
 * domain asks to be looked at again after a second.
 */
import { holds, refused, same } from '../expect.js';
import type { BundleDraft } from '../peer/bundle.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import type { SigningKey } from '../wire/keys.js';
import { eventually, instantIn, sleep } from '../wire/time.js';

const directory = '/federation/v1/directory';
const often = { refresh_hint_s: 1 };

export const keyChanges: Scenario = {
  name: 'key-changes',
  about: 'a new bundle is believed if it goes on from the last, and a break stops everything',
  needs: ['reachable'],
  checks: [9, 11, 12, 13, 14, 22, 27, 28, 29].map((number) => `KEYS-${number}`),
  async run(stage, checks) {
    await Promise.all([
      rotation(stage, checks),
      breaks(stage, checks),
      emptied(stage, checks),
      unknownKid(stage, checks),
      fingerprint(stage, checks),
    ]);
  },
};

/** Serves a bundle and has the target take it. */
async function start(domain: PlayedDomain): Promise<void> {
  domain.publish({ change: often });
  const taken = await eventually(async () => ((await domain.get(directory)).status === 200 ? true : undefined), 8_000);
  holds(taken === true, `${domain.name} is not taken as it stands; was it broken by a run in the last minute?`);
}

/** Serves the next bundle and waits until the target has to look again. */
async function replace(domain: PlayedDomain, draft: Partial<BundleDraft>): Promise<void> {
  domain.publish({ ...draft, change: { ...often, ...draft.change } });
  await sleep(1_200);
}

function by(domain: PlayedDomain, key: SigningKey) {
  return domain.get(directory, { key, keyid: `key://${domain.name}/domain/${key.kid}` });
}

async function rotation(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('change-1');
  const next = domain.otherKey('next');
  await start(domain);
  const looks = () => domain.received.filter(({ path }) => path === '/federation/v1/bundle').length;
  const before = looks();
  await replace(domain, { keys: [{ key: domain.key }, { key: next }] });
  await check('KEYS-27', 'after the time of refresh_hint_s a newer bundle is looked for', async () => {
    same((await by(domain, domain.key)).status, 200, 'the status');
    holds(looks() > before, 'it was not asked for again');
  });
  await check('KEYS-12', 'a key that an earlier one has signed for is believed', async () =>
    same((await by(domain, next)).status, 200, 'the status'),
  );
}

type Break = readonly [id: string, what: string, draft: (domain: PlayedDomain, first: string) => Partial<BundleDraft>];

const breaksOf: readonly Break[] = [
  [
    'KEYS-12',
    'a bundle that no earlier key has signed is refused',
    (domain) => ({ keys: [{ key: domain.otherKey('thief') }] }),
  ],
  [
    'KEYS-13',
    'a lower sequence is refused',
    (domain) => ({ sequence: '1', keys: [{ key: domain.key }, { key: domain.otherKey('thief') }] }),
  ],
  [
    'KEYS-14',
    'the same sequence with other content is refused',
    (domain, sequence) => ({ sequence, keys: [{ key: domain.key }, { key: domain.otherKey('thief') }] }),
  ],
  [
    'KEYS-9',
    'another first_kid is refused',
    (domain) => ({ first: domain.otherKey('thief'), keys: [{ key: domain.key }, { key: domain.otherKey('thief') }] }),
  ],
];

async function breaks(stage: Stage, { check }: Checks): Promise<void> {
  await Promise.all(
    breaksOf.map(async ([id, what, draft], index) => {
      const domain = stage.play(`change-${index + 2}`);
      await start(domain);
      const sequence = domain.nextSequence();
      await replace(domain, { sequence });
      same((await by(domain, domain.key)).status, 200, 'the status before the break');
      await replace(domain, draft(domain, sequence));
      await check(id, what, async () => refused(await by(domain, domain.otherKey('thief')), 401));
      await check('KEYS-29', `afterwards nothing of it is accepted (${what})`, async () =>
        refused(await by(domain, domain.key), 401),
      );
      domain.publish({ change: often });
    }),
  );
}

async function emptied(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('change-6');
  // From an earlier run it may be empty already, and stays so.
  domain.publish({ change: often });
  await by(domain, domain.key);
  const revoked = [{ subject: domain.key.kid, revoked_at: instantIn(-1), reason: 'closed' }];
  await replace(domain, { keys: [], signers: [domain.key], change: { revoked } });
  await check('KEYS-22', 'once keys are empty no key speaks for the domain', async () =>
    refused(await by(domain, domain.key), 401),
  );
}

async function unknownKid(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('change-7');
  const next = domain.otherKey('next');
  domain.publish();
  same((await by(domain, domain.key)).status, 200, 'the status at first');
  domain.publish({ keys: [{ key: domain.key }, { key: next }] });
  const looks = () => domain.received.filter(({ path }) => path === '/federation/v1/bundle').length;
  const before = looks();
  await check('KEYS-28', 'an unknown kid makes the target look before it refuses', async () =>
    same((await by(domain, next)).status, 200, 'the status'),
  );
  await check('KEYS-28', 'another unknown kid within 60 s makes no second look', async () => {
    refused(await by(domain, domain.otherKey('third')), 401);
    holds(looks() - before <= 1, `there were ${looks() - before}`);
  });
}

async function fingerprint(stage: Stage, { check, skip }: Checks): Promise<void> {
  if (stage.missing.has('operator')) return skip('KEYS-11', stage.missing.get('operator') ?? '');
  const domain = stage.play('invited');
  const other = domain.otherKey('another first');
  domain.publish({ first: other, keys: [{ key: other }] });
  await stage.pin(domain);
  await check('KEYS-11', 'a bundle with another first_kid than the pinned one is refused', async () =>
    refused(await by(domain, other), 401),
  );
}
