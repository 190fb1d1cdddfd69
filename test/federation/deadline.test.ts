/** F15, D16: an open promise tells its parties when its deadline draws near and when it has come. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fireSchedules } from '../../src/foundation/index.js';
import { agent, befriend, deliver, openWorld, say, type TestDomain, type World } from './federation-world.js';

let world: World;
let alpha: TestDomain;
let beta: TestDomain;

beforeAll(async () => {
  world = await openWorld(['alpha.test', 'beta.test']);
  const [first, second] = world.domains;
  if (!first || !second) throw new Error('two domains are needed');
  [alpha, beta] = [first, second];
  await befriend(alpha, beta);
});
afterAll(() => world.close());

async function exchange(): Promise<void> {
  await deliver(alpha, beta.name);
  await deliver(beta, alpha.name);
}

async function promise(subject: string): Promise<string> {
  const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
  const input = { action: 'review', subject, deadline_in_s: 3_600 };
  const { commitment_id = '' } = await say(alpha, { from: ada, to: bob, type: 'request', input });
  await exchange();
  await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id } });
  await exchange();
  return commitment_id;
}

const watches = ({ home: { db } }: TestDomain, subject: string) =>
  db.sql<{ status: string; rule: object; agent: string; owner: string }[]>`
    select status, rule, agent, owner from foundation.schedules where subject = ${subject}`;

const told = ({ home: { db } }: TestDomain, subject: string) =>
  db.sql<{ type: string; kind: string; trustClass: string }[]>`
    select type, kind, trust_class from foundation.inputs
     where subject ->> 'resource' = ${subject} and source = 'hearth://schedule' order by received_at, id`;

/** As if the time of the next slot had come. */
async function comeTrue({ home: { db }, gateway }: TestDomain, subject: string): Promise<void> {
  await db.sql`
    update foundation.schedules
       set rule = jsonb_set(rule, '{at}', to_jsonb(to_char((rule ->> 'at')::timestamptz - (next_fire_at - hearth_now())
                    - interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))),
           next_fire_at = hearth_now() - interval '1 second'
     where subject = ${subject} and status = 'active'`;
  await fireSchedules(gateway);
}

it('both parties are told: a tenth of the time before, and at the deadline', async () => {
  const id = await promise('pull/1');
  for (const domain of [alpha, beta]) {
    expect(await watches(domain, id)).toMatchObject([
      { status: 'active', owner: 'system:expiry', rule: { lead_s: 360 } },
    ]);
    await comeTrue(domain, id);
    await comeTrue(domain, id);
    expect(await told(domain, id)).toEqual([
      { type: 'commitment.deadline_approaching', kind: 'event', trustClass: 'trusted_fact' },
      { type: 'commitment.deadline_reached', kind: 'event', trustClass: 'trusted_fact' },
    ]);
  }
});

it('nothing is told of a promise that was reported, and nothing is watched before it is accepted', async () => {
  const [ada, bob] = [agent(alpha, 'ada'), agent(beta, 'bob')];
  const input = { action: 'review', subject: 'pull/2', deadline_in_s: 3_600 };
  const { commitment_id = '' } = await say(alpha, { from: ada, to: bob, type: 'request', input });
  await exchange();
  expect([await watches(alpha, commitment_id), await watches(beta, commitment_id)]).toEqual([[], []]);
  await say(beta, { from: bob, to: ada, type: 'accept', input: { commitment_id } });
  const report = { commitment_id, summary: 'done', evidence: [{ name: 'review', content: 'LGTM' }] };
  await say(beta, { from: bob, to: ada, type: 'report', input: report });
  await exchange();
  for (const domain of [alpha, beta]) {
    expect((await watches(domain, commitment_id)).map(({ status }) => status)).toEqual(['cancelled']);
    await comeTrue(domain, commitment_id);
    expect(await told(domain, commitment_id)).toEqual([]);
  }
});
