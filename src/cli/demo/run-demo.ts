/**
 * `hearth demo`: two domains, one real request. A recorded webhook wakes an agent in alpha.test; it asks an agent in
 * beta.test for work and is suspended; the work is promised, done once and reported; the first agent continues.
 * With chaos, each round one process is killed at a seeded moment, and every round must have the same ending.
 */
import { type Clock, type Random, seededRandom, systemClock, systemRandom } from '../../platform/index.js';
import { auditorAddress, managerAddress } from './agents.js';
import { describeStrike, type PortCounts, planStrike, type Strike } from './chaos-plan.js';
import { awaitEnding, type Ending } from './ending.js';
import { postWebhook } from './recorded-webhook.js';
import { type DemoSetup, setUpDomains } from './setup.js';
import { type Stage, setStage } from './stage.js';
import { openTimeline, type Timeline } from './timeline.js';

export interface DemoOptions {
  chaos: boolean;
  /** Rounds under chaos; without it there is one calm round. */
  rounds: number;
  seed: number;
  json: boolean;
}

interface Play extends Stage, DemoSetup {
  clock: Clock;
  timeline: Timeline;
}

/** Longest time until the ending of a calm round, and of one with a kill, in milliseconds. */
const calmLimitMs = 60_000;
const chaosLimitMs = 120_000;

/** @returns the exit code: 0 only if the ending was read back from both databases and counted once outside */
export async function runDemo(options: DemoOptions): Promise<number> {
  const clock = systemClock();
  const write = options.json ? () => undefined : (line: string) => console.log(line);
  write(`Starting alpha.test and beta.test, each with its own PostgreSQL${options.chaos ? ', to be killed' : ''} …`);
  const stage = await setStage({ clock, chaos: options.chaos });
  let passed = false;
  try {
    const timeline = openTimeline({ domains: castOf(stage), clock, write });
    const setup = await setUpDomains(stage.alpha, stage.beta, `${stage.outside.origin}/audits`);
    timeline.say('operator', 'pinned the domains to each other, created two agents and a webhook source');
    const play = { ...stage, ...setup, clock, timeline };
    passed = options.chaos ? await playChaos(play, options) : (await playRound(play, { number: 1 })) !== undefined;
    const restarts = stage.alpha.restarts() + stage.beta.restarts();
    if (options.json) {
      console.log(
        JSON.stringify({ passed, rounds: options.chaos ? options.rounds + 1 : 1, seed: options.seed, restarts }),
      );
    }
    if (!passed) write(`The data and logs are kept in ${stage.directory}`);
  } finally {
    await stage.clear({ keep: !passed });
  }
  return passed ? 0 : 1;
}

function castOf({ alpha, beta }: Stage) {
  return [
    { domain: alpha, agent: managerAddress },
    { domain: beta, agent: auditorAddress },
  ];
}

/** A calm round first, which shows how often each port is called; then one strike a round. */
async function playChaos(play: Play, options: DemoOptions): Promise<boolean> {
  const random = seededRandom(options.seed);
  await Promise.all([play.alpha.arm(undefined), play.beta.arm(undefined)]);
  if (!(await playRound(play, { number: 1 }))) return false;
  const calm: PortCounts = {
    'alpha.test': (await play.alpha.tally()).counts,
    'beta.test': (await play.beta.tally()).counts,
  };
  for (let round = 1; round <= options.rounds; round += 1) {
    if (!(await playStruckRound(play, { random, calm, round, of: options.rounds }))) return false;
  }
  play.timeline.say(
    'outside',
    `${options.rounds} of ${options.rounds} rounds had the same ending (seed ${options.seed})`,
  );
  return true;
}

interface StruckRound {
  random: Random;
  calm: PortCounts;
  round: number;
  of: number;
}

async function playStruckRound(play: Play, { random, calm, round, of }: StruckRound): Promise<boolean> {
  const strike = planStrike(random, calm);
  const victim = strike.victim === 'alpha.test' ? play.alpha : play.beta;
  const other = strike.victim === 'alpha.test' ? play.beta : play.alpha;
  play.timeline.say('chaos', `round ${round} of ${of}: ${describeStrike(strike)}`);
  await other.arm(undefined);
  await victim.arm(strike);
  const ending = await playRound(play, { number: round + 1, strike });
  if (!ending) return false;
  if ((await victim.tally()).struck) return true;
  play.timeline.say('chaos', 'the strike did not fall: the round proves nothing');
  return false;
}

/** @param play.number rounds played so far, this one included: what everything must have been counted to at its end */
async function playRound(play: Play, round: { number: number; strike?: Strike }): Promise<Ending | undefined> {
  const { timeline, clock, outside } = play;
  await deliverWebhook(play);
  const witnesses = { alpha: play.databases.alpha.sql, beta: play.databases.beta.sql, outside };
  const limitMs = round.strike ? chaosLimitMs : calmLimitMs;
  const { ending, wrong } = await awaitEnding(witnesses, round.number, { clock, limitMs, onLook: timeline.look });
  await timeline.look().catch(() => undefined);
  for (const difference of wrong) timeline.say('ending', `WRONG  ${difference}`);
  if (!ending || wrong.length > 0) return undefined;
  timeline.say(
    'ending',
    `both databases: promise fulfilled, ${ending.kinds}; outside: done ${ending.doneOutside} time${ending.doneOutside === 1 ? '' : 's'} in ${round.number} round${round.number === 1 ? '' : 's'}`,
  );
  return ending;
}

/** GitHub delivers again what was not answered 202; the delivery id stays, so the source's dedupe must hold. */
async function deliverWebhook({ timeline, clock, webhookUrl, webhookSecret }: Play): Promise<void> {
  const delivery = deliveryId(systemRandom());
  const until = clock.monotonicMs() + calmLimitMs;
  for (;;) {
    try {
      await postWebhook(webhookUrl, webhookSecret, delivery);
      timeline.say('github', `webhook release.published accepted by alpha.test (delivery ${delivery.slice(0, 8)})`);
      return;
    } catch (error) {
      if (clock.monotonicMs() > until) throw error;
      await clock.sleep(250);
    }
  }
}

/** An id of the form GitHub gives a delivery. */
function deliveryId(random: Random): string {
  const hex = Buffer.from(random.bytes(16)).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
