// (a) and (b): durable delivery through two whole domains and through the floor, round by round, one after the other.
import { median, type Spread, spreadOf, treeCpuMs } from './figures.js';
import { type Pair, startDomains, startFloor } from './pairs.js';
import type { Plan } from './plan.js';
import type { Figure } from './table.js';

const queuedEach = 2_000;
const singlesEach = 1_000;
// The engine compiles what runs often: the first round is not counted.
const warmUp = 2_000;
const workers = 32;

/** One form in one round: how many a second, how long each takes, and what the pair's processes used for one. */
interface Sample {
  rate: number;
  cpuMs: number;
  spread: Spread;
}

type Form = 'queueing' | 'batches' | 'whole' | 'singles';
type Samples = Record<Form, Sample[]>;

export async function measureDelivery(plan: Plan): Promise<Figure[]> {
  const pairs: Pair[] = [];
  try {
    pairs.push(await startFloor(plan.directory));
    pairs.push(await startDomains(plan.directory));
    const samples = new Map(pairs.map(({ name }) => [name, emptySamples()]));
    for (const pair of pairs) await oneRound(pair, emptySamples(), Math.min(warmUp / queuedEach, plan.scale));
    for (let round = 1; round <= plan.rounds; round += 1) {
      for (const pair of pairs) {
        const own = samples.get(pair.name) ?? emptySamples();
        await oneRound(pair, own, plan.scale);
        plan.say(`${pair.name}, round ${round} of ${plan.rounds}: ${describe(own)}`);
      }
    }
    return figuresOf(samples.get('hearth') ?? emptySamples(), samples.get('floor') ?? emptySamples());
  } finally {
    await Promise.all(pairs.map((pair) => pair.stop()));
  }
}

function emptySamples(): Samples {
  return { queueing: [], batches: [], whole: [], singles: [] };
}

async function oneRound(pair: Pair, samples: Samples, scale: number): Promise<void> {
  const count = Math.ceil(queuedEach * scale);
  const queueing = await measure(pair, count, async () => {
    await pair.queue(count);
    return [];
  });
  const batches = await measure(pair, count, async () => (await pair.drain()).exchangesMs);
  const singles = Math.ceil(singlesEach * scale);
  const single = await measure(
    pair,
    singles,
    async () => (await pair.singles({ workers, count: singles })).latenciesMs,
  );
  samples.queueing.push(queueing);
  samples.batches.push(batches);
  samples.whole.push({
    rate: 1 / (1 / queueing.rate + 1 / batches.rate),
    cpuMs: queueing.cpuMs + batches.cpuMs,
    spread: batches.spread,
  });
  samples.singles.push(single);
}

async function measure(pair: Pair, count: number, work: () => Promise<number[]>): Promise<Sample> {
  const cpuBefore = treeCpuMs(pair.pids);
  const startMs = performance.now();
  const samples = await work();
  const tookMs = performance.now() - startMs;
  return {
    rate: (count * 1000) / tookMs,
    cpuMs: (treeCpuMs(pair.pids) - cpuBefore) / count,
    spread: spreadOf(samples),
  };
}

function describe(samples: Samples): string {
  const last = (form: Form) => samples[form].at(-1);
  return (['queueing', 'batches', 'singles'] as const)
    .map((form) => `${form} ${Math.round(last(form)?.rate ?? 0)}/s at ${last(form)?.cpuMs.toFixed(2)} cpu-ms`)
    .join(', ');
}

const names: Record<Form, string> = {
  batches: 'delivery, 50 a batch: outbox → mailbox, receipt, settled',
  queueing: 'queueing for it: proposal → outbox',
  whole: 'both: proposal → settled, 50 a batch',
  singles: 'delivery, 32 singles: proposal → settled, then the next',
};

function figuresOf(hearth: Samples, floor: Samples): Figure[] {
  return (['batches', 'queueing', 'whole', 'singles'] as const).flatMap((form) => {
    const ours = figure(`hearth ${names[form]}`, hearth[form]);
    const least = figure(`floor  ${names[form]}`, floor[form]);
    // Rounds are neighbours in time: each is compared with its own.
    const ratio = median(hearth[form].map(({ rate }, index) => rate / (floor[form][index]?.rate ?? Number.NaN)));
    const cpuRatio = median(hearth[form].map(({ cpuMs }, index) => cpuMs / (floor[form][index]?.cpuMs ?? Number.NaN)));
    const aim = form === 'batches' || form === 'singles' ? { aim: 'rate ≥ 0.60 of the floor' } : {};
    return [{ ...ours, ratio, cpuRatio, ...aim }, least];
  });
}

function figure(name: string, samples: Sample[]): Figure {
  const ratePerS = median(samples.map(({ rate }) => rate));
  const p50Ms = median(samples.map(({ spread }) => spread.p50));
  return {
    name,
    value: `${Math.round(ratePerS)}/s`,
    ratePerS,
    ...(Number.isNaN(p50Ms) ? {} : { p50Ms, p99Ms: median(samples.map(({ spread }) => spread.p99)) }),
    cpuMsPerItem: median(samples.map(({ cpuMs }) => cpuMs)),
  };
}
