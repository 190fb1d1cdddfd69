// A peer that fails: how the target waits, probes, keeps order, and comes back by itself.
import { found, holds, same } from '../expect.js';
import { answerTo } from '../peer/answer.js';
import { type ArrivedTransaction, attemptsAt, transactionsAt } from '../peer/arrivals.js';
import { sealEnvelope } from '../peer/played-agent.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { listOf, textOf } from '../wire/json.js';
import { eventually, sleep } from '../wire/time.js';
import { type Said, speak } from './sending.js';

export const failingPeer: Scenario = {
  name: 'failing-peer',
  about: 'what a failing peer is owed waits in order, is probed with patience, and arrives in the end',
  needs: ['operator'],
  checks: [
    ...[24, 25, 28, 30, 31, 34, 36].map((number) => `DELIVERY-${number}`),
    ...['REQUESTS-7', 'REQUESTS-9', 'ENVELOPE-18', 'DELIVERY-1'],
  ],
  timeoutMs: 60_000,
  async run(stage, checks) {
    await Promise.all([outage(stage, checks), crowd(stage, checks), poison(stage, checks)]);
  },
};

async function outage(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('failing');
  await stage.pin(domain);
  domain.transactions = () => ({ status: 500 });
  const first = await speak(stage, domain.agent('one').address);
  const second = await speak(stage, domain.agent('one').address, { conversation_id: first.conversationId });
  const attempts = await attemptsOf(stage, { domain, said: first, count: 3 });
  await check('DELIVERY-28', 'the waits grow: about 1 s after the first failure, about 2 s after the second', () => {
    const [one = 0, two = 0] = gapsOf(attempts);
    holds(one > 780 && one < 3_000, `the first wait was ${Math.round(one)} ms`);
    holds(two > 1_580 && two < 4_500, `the second wait was ${Math.round(two)} ms`);
  });
  await freshness({ check }, attempts);
  await check('DELIVERY-36', "the sender's own conversation stands as it was", async () => {
    const reply = await stage.door.ask('GET', `/v1/conversations/${first.conversationId}`);
    const ids = listOf(reply.json, 'messages').map((message) => textOf(message, 'message_id'));
    same(JSON.stringify(ids), JSON.stringify([first.messageId, second.messageId]), 'the messages');
  });
  await earlyProbe(stage, { check }, { domain, said: first });
  domain.transactions = (request) => answerTo(domain, request);
  await check(
    'DELIVERY-24',
    'what waits is offered in the order in which it was sent, none before its turn',
    async () => {
      const arrived = await eventually(() => attemptsAt(domain, stage.target, second.messageId)[0], 25_000);
      const secondMs = found(arrived, 'the second message never came').request.atMs;
      const order = transactionsAt(domain, stage.target).flatMap(({ request, envelopes }) =>
        envelopes.map(({ messageId }) => ({ messageId, atMs: request.atMs })),
      );
      const firsts = order.filter(({ messageId }) => messageId === first.messageId);
      holds(
        firsts.every(({ atMs }) => atMs <= secondMs),
        'the first was offered after the second',
      );
      holds(firsts.length >= 4, 'the first was not offered again');
    },
  );
}

/** Each attempt is a new request with the old message in it. */
async function freshness({ check }: Pick<Checks, 'check'>, attempts: readonly ArrivedTransaction[]): Promise<void> {
  const different = (values: readonly (string | undefined)[]) => new Set(values).size === values.length;
  await check('DELIVERY-30', 'while the peer fails one message at a time is offered', () => {
    for (const { envelopes } of attempts.slice(1)) same(envelopes.length, 1, 'the number of messages in a probe');
  });
  await check('REQUESTS-9', 'each attempt is signed afresh', () => {
    const created = attempts.map(({ signature }) => Number(signature.parameters.get('created')));
    holds(
      created.every((at, index) => index === 0 || at > (created[index - 1] ?? 0)),
      `created was ${created.join(', ')}`,
    );
    for (const { signature } of attempts) same(signature.fault, undefined, 'the fault');
  });
  await check('REQUESTS-7', 'each attempt has a nonce of its own', () =>
    holds(different(attempts.map(({ signature }) => signature.parameters.get('nonce'))), 'a nonce came twice'),
  );
  await check('ENVELOPE-18', 'the message has the same header in every attempt', () => {
    const headers = attempts.map(({ envelopes }) => envelopes[0]?.headerText);
    same(new Set(headers).size, 1, 'the number of different headers');
  });
  await check('DELIVERY-1', 'no transaction id comes with two bodies', () => {
    const bodies = new Map<string, string>();
    for (const { id, request } of attempts) {
      const body = request.body.toString('utf8');
      same(bodies.get(id) ?? body, body, `the body of ${id}`);
      bodies.set(id, body);
    }
  });
}

type Waiting = { domain: PlayedDomain; said: Said };

async function earlyProbe(stage: Stage, { check }: Pick<Checks, 'check'>, { domain, said }: Waiting): Promise<void> {
  const before = attemptsAt(domain, stage.target, said.messageId).length;
  const hello = sealEnvelope({ from: domain.agent('one'), to: [stage.quiet] });
  await domain.put({ envelopes: [hello.wire] });
  const attempts = () => attemptsAt(domain, stage.target, said.messageId).length - before;
  const early = await eventually(() => (attempts() > 0 ? true : undefined), 2_000);
  await check('DELIVERY-31', 'a valid message of the failing peer brings the next probe forward', () =>
    same(early, true, 'whether it did'),
  );
  await sleep(3_000);
  await check('DELIVERY-31', 'the message does not clear the record of failures', () =>
    holds(attempts() <= 1, `there were ${attempts()} attempts in 3 s`),
  );
}

async function attemptsOf(
  { target }: Stage,
  { domain, said, count }: Waiting & { count: number },
): Promise<ArrivedTransaction[]> {
  const enough = await eventually(() => {
    const attempts = attemptsAt(domain, target, said.messageId);
    return attempts.length >= count ? attempts : undefined;
  }, 15_000);
  return found(enough, `${count} attempts were not made`);
}

function gapsOf(attempts: readonly ArrivedTransaction[]): number[] {
  return attempts.slice(1).map(({ request }, index) => request.atMs - (attempts[index]?.request.atMs ?? 0));
}

/** More conversations at once than fit three transactions, to a peer that takes two in flight. */
async function crowd(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('crowded');
  await stage.pin(domain);
  let [open, most] = [0, 0];
  domain.transactions = async (request) => {
    open += 1;
    most = Math.max(most, open);
    await sleep(300);
    open -= 1;
    return answerTo(domain, request);
  };
  const said = await Promise.all(Array.from({ length: 120 }, () => speak(stage, domain.agent('one').address)));
  const all = await eventually(
    () => (said.every(({ messageId }) => attemptsAt(domain, stage.target, messageId).length > 0) ? true : undefined),
    15_000,
  );
  await check('DELIVERY-25', 'no more transactions are in flight than the receiver takes', () => {
    same(all, true, 'whether everything came');
    holds(most <= 2, `there were ${most}`);
  });
}

/** A message that is called malformed again and again. */
async function poison(stage: Stage, { check }: Checks): Promise<void> {
  const domain = stage.play('refusing');
  await stage.pin(domain);
  const bad = await speak(stage, domain.agent('one').address);
  domain.transactions = (request) =>
    request.body.toString('utf8').includes(bad.messageId)
      ? { status: 400, body: '{"code":"schema_invalid"}' }
      : answerTo(domain, request);
  const next = await speak(stage, domain.agent('one').address, { conversation_id: bad.conversationId });
  await check('DELIVERY-34', 'what is refused again and again is given up, and what waits goes on', async () => {
    const arrived = await eventually(() => attemptsAt(domain, stage.target, next.messageId)[0], 40_000);
    found(arrived, 'what waits behind it never came');
  });
}
