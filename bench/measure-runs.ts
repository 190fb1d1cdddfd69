// (d) and (e): how soon an input becomes a run and a waiting run goes on, and how much memory a domain at rest takes.
import { median, rssMiB, spreadOf } from './figures.js';
import { startNode } from './node-process.js';
import { freePort, made } from './pairs.js';
import type { Plan } from './plan.js';
import type { Figure } from './table.js';

const wakesEach = 100;
const idleMs = 5_000;

export async function measureRuns({ directory, rounds, scale, say }: Plan): Promise<Figure[]> {
  const node = startNode('./domain-node.js', 'rest');
  const activated: { p50: number; p99: number }[] = [];
  const woken: { p50: number; p99: number }[] = [];
  try {
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
    for (let round = 1; round <= rounds; round += 1) {
      const count = Math.ceil(wakesEach * scale);
      const { activatedMs, wokenMs } = await node.call<{ activatedMs: number[]; wokenMs: number[] }>('wakes', {
        count,
      });
      activated.push(spreadOf(activatedMs));
      woken.push(spreadOf(wokenMs));
      say(`runs, round ${round} of ${rounds}`);
    }
    return [
      figure('input accepted → first event of its run, one at a time', activated),
      figure('answer accepted → first event of the run that goes on', woken),
      {
        name: 'memory of a domain at rest, beside its PostgreSQL',
        value: `${Math.round(rss)} MiB`,
        aim: '< 120 MiB',
      },
    ];
  } finally {
    await node.stop();
  }
}

function figure(name: string, spreads: readonly { p50: number; p99: number }[]): Figure {
  const p50Ms = median(spreads.map(({ p50 }) => p50));
  return { name, value: `${p50Ms.toFixed(1)} ms`, p50Ms, p99Ms: median(spreads.map(({ p99 }) => p99)) };
}
