// Answers to the target's transactions: wrong receipts are not believed, and what is said in good ones is.
import { found, holds, same } from '../expect.js';
import { type AnswerFault, answerTo } from '../peer/answer.js';
import { attemptsAt } from '../peer/arrivals.js';
import type { PlayedDomain } from '../peer/played-domain.js';
import type { Checks, Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { digestOf } from '../wire/encoding.js';
import { mintId } from '../wire/ids.js';
import { listOf, textOf } from '../wire/json.js';
import { eventually, instantIn, sleep } from '../wire/time.js';
import { speak } from './sending.js';

type Doubtful = readonly [id: string, what: string, fault: (domain: PlayedDomain) => AnswerFault];

const doubtful: readonly Doubtful[] = [
  [
    'RECEIPTS-2',
    'a receipt by a key that the bundle does not name is not believed',
    (domain) => ({ key: domain.otherKey('unknown to the bundle') }),
  ],
  ['RECEIPTS-3', 'a receipt of another issuer is not believed', () => ({ receipt: { issuer: 'elsewhere.test' } })],
  ['RECEIPTS-4', 'a receipt from the future is not believed', () => ({ receipt: { observed_at: instantIn(330) } })],
  ['RECEIPTS-5', 'a receipt of another type is not believed', () => ({ receipt: { type: 'delivery.accepted' } })],
  ['RECEIPTS-1', 'a receipt without receipt_id is not believed', () => ({ receipt: { receipt_id: undefined } })],
  [
    'RECEIPTS-6',
    'a receipt over another body is not believed',
    () => ({ receipt: { subject_digest: digestOf('another') } }),
  ],
  ['KEYS-7', 'a receipt with another typ is not believed', () => ({ typ: 'JWT' })],
  [
    'DELIVERY-27',
    'a receipt of another transaction is not believed',
    () => ({ receipt: { transaction_id: mintId('txn', 'other'), subject_ref: mintId('txn', 'other') } }),
  ],
  ['DELIVERY-27', 'results that are not those of the receipt are not believed', () => ({ receipt: { results: [] } })],
  [
    'DELIVERY-27',
    'a message without a result is not believed to be delivered',
    () => ({ sent: () => [], receipt: { results: [] } }),
  ],
];

export const doubtfulAnswers: Scenario = {
  name: 'doubtful-answers',
  about: 'the target believes an answer only with its receipt, and does what the answer says',
  needs: ['operator'],
  checks: [
    ...[1, 2, 3, 4, 5, 6].map((number) => `RECEIPTS-${number}`),
    ...['KEYS-7', 'DELIVERY-17', 'DELIVERY-27', 'DELIVERY-29', 'DELIVERY-35', 'SECURITY-3'],
  ],
  async run(stage, checks) {
    await Promise.all([
      ...doubtful.map((entry, index) => doubt(stage, checks, { entry, name: `receipt-${index + 1}` })),
      told(stage, checks, parked),
      told(stage, checks, refused),
      endlessAnswer(stage, checks),
      wait(stage, checks),
    ]);
  },
};

/** The first answer is doubtful, the next is right: the message has to be offered twice. */
async function doubt(
  stage: Stage,
  { check }: Checks,
  { entry, name }: { entry: Doubtful; name: string },
): Promise<void> {
  const [id, what, fault] = entry;
  const domain = stage.play(name);
  await stage.pin(domain);
  let answers = 0;
  domain.transactions = (request) => {
    answers += 1;
    return answerTo(domain, request, answers === 1 ? fault(domain) : {});
  };
  const { messageId } = await speak(stage, domain.agent('one').address);
  await check(id, what, async () => {
    const again = await eventually(() => attemptsAt(domain, stage.target, messageId)[1], 8_000);
    found(again, 'the message was not offered again');
    const status = await statusOf(stage, { domain, messageId, until: 'delivered' });
    same(status, 'delivered', 'what became of it with a right receipt');
  });
}

type Item = { domain: PlayedDomain; messageId: string; until: string };

async function statusOf({ door }: Stage, { domain, messageId, until }: Item): Promise<string> {
  let last = '';
  await eventually(async () => {
    const reply = await door.ask('GET', `/admin/v1/outbox?peer=${domain.name}`);
    const item = listOf(reply.json, 'items').find((entry) => textOf(entry, 'message_id') === messageId);
    last = textOf(item, 'status');
    return last === until ? true : undefined;
  }, 6_000);
  return last;
}

async function told(stage: Stage, { check }: Checks, told: Told): Promise<void> {
  const { id, name, result, status, what } = told;
  const domain = stage.play(name);
  await stage.pin(domain);
  domain.transactions = (request) => answerTo(domain, request, { result });
  const { messageId } = await speak(stage, domain.agent('one').address);
  await check(id, what, async () =>
    same(await statusOf(stage, { domain, messageId, until: status }), status, 'the status'),
  );
  await sleep(2_500);
  await check(id, 'it is not sent again', () =>
    same(attemptsAt(domain, stage.target, messageId).length, 1, 'the number of attempts'),
  );
}

interface Told {
  readonly id: string;
  readonly name: string;
  readonly result: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly what: string;
}

const parked: Told = {
  id: 'DELIVERY-35',
  name: 'parking',
  result: { result: 'parked' },
  status: 'parked',
  what: 'a parked message is kept undecided',
};
const refused: Told = {
  id: 'DELIVERY-17',
  name: 'rejecting',
  result: { result: 'rejected', code: 'word_of_the_future' },
  status: 'rejected',
  what: 'an unknown code is a refusal',
};

/** An answer without end must not hold the target for ever: it comes again. */
async function endlessAnswer(stage: Stage, { check }: Pick<Checks, 'check'>): Promise<void> {
  const domain = stage.play('endless');
  await stage.pin(domain);
  let written = 0;
  domain.transactions = () => (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(65_536, 0x20);
    const more = () => {
      while (!response.destroyed && written < 64 * 1_048_576) {
        written += chunk.byteLength;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };
  const { messageId } = await speak(stage, domain.agent('one').address);
  await check('SECURITY-3', 'an answer that does not end is not read to its end', async () => {
    const again = await eventually(() => attemptsAt(domain, stage.target, messageId)[1], 15_000);
    domain.transactions = (request) => answerTo(domain, request);
    found(again, 'the message was not offered again');
    holds(written < 32 * 1_048_576, `${written} bytes were read`);
  });
}

async function wait(stage: Stage, { check }: Checks): Promise<void> {
  const forms = [
    ['waiting-1', 'in seconds', () => '3'],
    ['waiting-2', 'as a date', () => new Date(Date.now() + 4_000).toUTCString()],
  ] as const;
  await Promise.all(
    forms.map(async ([name, form, retryAfter]) => {
      const domain = stage.play(name);
      await stage.pin(domain);
      let answers = 0;
      domain.transactions = (request) => {
        answers += 1;
        return answers === 1 ? { status: 503, fields: { 'retry-after': retryAfter() } } : answerTo(domain, request);
      };
      const { messageId } = await speak(stage, domain.agent('one').address);
      await check('DELIVERY-29', `Retry-After ${form} is waited for`, async () => {
        const again = await eventually(() => attemptsAt(domain, stage.target, messageId)[1], 15_000);
        const [first] = attemptsAt(domain, stage.target, messageId);
        const ms = found(again, 'the message was not offered again').request.atMs - (first?.request.atMs ?? 0);
        holds(ms > 2_800, `it came again after ${Math.round(ms)} ms`);
      });
    }),
  );
}
