/**
 * (d) and (e): how soon an input becomes a run and a waiting run goes on, at rest, at a pace, and beside many that wait; how
 * many runs begin and end in a second beside the floor; how much memory a domain at rest takes.
 */
import { median, rssMiB, type Spread, spreadOf, treeCpuMs } from './figures.js';
import { type NodeProcess, startNode } from './node-process.js';
import { freePort, made } from './pairs.js';
import type { Plan } from './plan.js';
import type { Figure } from './table.js';

const wakesEach = 100;
const activationsEach = 3_000;
const paceperS = 500;
const manyWaiting = 100_000;
const idleMs = 5_000;

interface Taken {
  spread: Spread;
  ratePerS: number;
  cpuMs: number;
}

export async function measureRuns(plan: Plan): Promise<Figure[]> {
  const { directory, rounds, scale, say } = plan;
  const floor = startNode('./wake-floor.js', 'wake-floor');
  const node = startNode('./domain-node.js', 'rest');
  try {
    await floor.call('start', { dataDirectory: made(directory, 'wake-floor') });
    await node.call('start', {
      domain: 'rest.test',
      dataDirectory: made(directory, 'rest.test'),
      federationPort: await freePort(),
      resolve: '',
    });
    await new Promise((resolve) => setTimeout(resolve, idleMs * Math.min(scale, 1)));
    const rss = rssMiB(node.pid);
    say(`a domain at rest: ${Math.round(rss)} MiB`);
    await node.call('addPeople', { count: 1 });
    const samples = emptySamples();
    // The engine compiles what runs often: the first round is not counted.
    await oneRound({ floor, node, scale: scale / 4, samples: emptySamples() });
    for (let round = 1; round <= rounds; round += 1) {
      await oneRound({ floor, node, scale, samples });
      say(`runs, round ${round} of ${rounds}`);
    }
    await node.call('letWait', { count: Math.ceil(manyWaiting * scale) });
    for (let round = 1; round <= rounds; round += 1) {
      samples.wokenBesideMany.push((await wakesOnce(node, scale)).woken);
      say(`runs beside many that wait, round ${round} of ${rounds}`);
    }
    return figuresOf(samples, { rss, waiting: Math.ceil(manyWaiting * scale) });
  } finally {
    await Promise.all([node.stop(), floor.stop()]);
  }
}

interface Samples {
  activated: Spread[];
  woken: Spread[];
  wokenBesideMany: Spread[];
  paced: Spread[];
  runs: Taken[];
  floor: Taken[];
  floorAlone: Taken[];
}

function emptySamples(): Samples {
  return { activated: [], woken: [], wokenBesideMany: [], paced: [], runs: [], floor: [], floorAlone: [] };
}

interface Round {
  floor: NodeProcess;
  node: NodeProcess;
  scale: number;
  samples: Samples;
}

async function oneRound({ floor, node, scale, samples }: Round): Promise<void> {
  const alone = Math.ceil(wakesEach * scale);
  const count = Math.ceil(activationsEach * scale);
  const { activated, woken } = await wakesOnce(node, scale);
  samples.activated.push(activated);
  samples.woken.push(woken);
  samples.floorAlone.push(await take(floor, { workers: 1, count: alone }));
  samples.floor.push(await take(floor, { workers: 32, count }));
  samples.runs.push(await take(node, { workers: 32, count }));
  const { activatedMs } = await node.call<{ activatedMs: number[] }>('paced', { perS: paceperS, count });
  samples.paced.push(spreadOf(activatedMs));
}

async function wakesOnce(node: NodeProcess, scale: number): Promise<{ activated: Spread; woken: Spread }> {
  const { activatedMs, wokenMs } = await node.call<{ activatedMs: number[]; wokenMs: number[] }>('wakes', {
    count: Math.ceil(wakesEach * scale),
  });
  return { activated: spreadOf(activatedMs), woken: spreadOf(wokenMs) };
}

async function take(node: NodeProcess, load: { workers: number; count: number }): Promise<Taken> {
  const cpuBefore = treeCpuMs([node.pid]);
  const { latenciesMs, tookMs } = await node.call<{ latenciesMs: number[]; tookMs: number }>('activations', load);
  return {
    spread: spreadOf(latenciesMs),
    ratePerS: (load.count * 1000) / tookMs,
    cpuMs: (treeCpuMs([node.pid]) - cpuBefore) / load.count,
  };
}

function figuresOf(samples: Samples, { rss, waiting }: { rss: number; waiting: number }): Figure[] {
  const { runs, floor } = samples;
  const ratio = median(runs.map(({ ratePerS }, index) => ratePerS / (floor[index]?.ratePerS ?? Number.NaN)));
  const cpuRatio = median(runs.map(({ cpuMs }, index) => cpuMs / (floor[index]?.cpuMs ?? Number.NaN)));
  return [
    { ...latency('input accepted → first event of its run, at rest', samples.activated), aim: 'p50 < 3 ms' },
    latency(`the same at ${paceperS} inputs/s`, samples.paced),
    latency('answer accepted → first event of the run that goes on', samples.woken),
    latency(`the same beside ${waiting} that wait`, samples.wokenBesideMany),
    latency(
      'floor: row written and announced → claimed, one at a time',
      samples.floorAlone.map(({ spread }) => spread),
    ),
    { ...rate('input → run → completed, 32 at once', runs), ratio, cpuRatio, aim: '≥ 1,500/s' },
    rate('floor: row written and announced → claimed, 32 at once', floor),
    {
      name: 'memory of a domain at rest, beside its PostgreSQL',
      value: `${Math.round(rss)} MiB`,
      aim: '< 120 MiB',
    },
  ];
}

function latency(name: string, spreads: readonly Spread[]): Figure {
  const p50Ms = median(spreads.map(({ p50 }) => p50));
  return { name, value: `${p50Ms.toFixed(1)} ms`, p50Ms, p99Ms: median(spreads.map(({ p99 }) => p99)) };
}

function rate(name: string, taken: readonly Taken[]): Figure {
  const ratePerS = median(taken.map((each) => each.ratePerS));
  return {
    name,
    value: `${Math.round(ratePerS)}/s`,
    ratePerS,
    p50Ms: median(taken.map(({ spread }) => spread.p50)),
    p99Ms: median(taken.map(({ spread }) => spread.p99)),
    cpuMsPerItem: median(taken.map(({ cpuMs }) => cpuMs)),
  };
}
