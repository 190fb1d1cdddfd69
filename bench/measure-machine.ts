// (c) The machine under everything: nobody wins by a slow floor, because the floor stands beside this.
import { median } from './figures.js';
import { startNode } from './node-process.js';
import { made } from './pairs.js';
import type { Plan } from './plan.js';
import type { Figure } from './table.js';

export async function measureMachine({ directory, rounds, scale, say }: Plan): Promise<Figure[]> {
  const machine = startNode('./machine.js', 'machine');
  const forMs = 500 * Math.min(scale, 1);
  const signs: number[] = [];
  const verifications: number[] = [];
  const batches: number[] = [];
  const rows: number[] = [];
  try {
    await machine.call('start', { dataDirectory: made(directory, 'machine') });
    for (let round = 1; round <= rounds; round += 1) {
      const signed = await machine.call<{ signs: number; verifications: number }>('signatures', { forMs });
      signs.push(signed.signs);
      verifications.push(signed.verifications);
      batches.push(await machine.call<number>('inserts', { rows: 50, clients: 4, forMs }));
      rows.push(await machine.call<number>('inserts', { rows: 1, clients: 8, forMs }));
      say(`machine, round ${round} of ${rounds}`);
    }
  } finally {
    await machine.stop();
  }
  const figure = (name: string, samples: number[]): Figure => {
    const ratePerS = median(samples);
    return { name, value: `${Math.round(ratePerS)}/s`, ratePerS };
  };
  return [
    figure('machine: Ed25519 signatures, one thread', signs),
    figure('machine: Ed25519 verifications, one thread', verifications),
    figure('machine: mailbox rows, 50 a commit, 4 clients', batches),
    figure('machine: mailbox rows, one a commit, 8 clients', rows),
  ];
}
