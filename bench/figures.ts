// Numbers of a run: percentiles, medians over rounds, and the processor time and memory of whole process trees.
import { readdirSync, readFileSync } from 'node:fs';

export interface Spread {
  p50: number;
  p99: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  return { p50: at(sorted, 0.5), p99: at(sorted, 0.99) };
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] ?? Number.NaN) + (sorted[Math.ceil(half)] ?? Number.NaN)) / 2;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

const ticksPerSecond = 100;

/** Milliseconds of processor time that these processes and all their children have used, the ended ones included. */
export function treeCpuMs(roots: readonly number[]): number {
  let ticks = 0;
  for (const pid of treeOf(roots)) {
    const fields = statOf(pid);
    // utime, stime, cutime, cstime: what a child used counts with its parent once it is gone.
    if (fields) for (const index of [11, 12, 13, 14]) ticks += Number(fields[index]);
  }
  return (ticks * 1000) / ticksPerSecond;
}

/** Milliseconds of processor time that the whole machine has used, whoever used it. */
export function machineCpuMs(): number {
  const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/\s+/) ?? [];
  // user nice system idle iowait irq softirq steal: all but idle and iowait.
  const used = [0, 1, 2, 5, 6, 7].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
  return (used * 1000) / ticksPerSecond;
}

export function rssMiB(pid: number): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+) kB/);
  return Number(line?.[1] ?? 0) / 1024;
}

function treeOf(roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? Number(statOf(pid)?.[1]) : Number.NaN;
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found: number[] = [];
  for (let open = [...roots]; open.length > 0; open = open.flatMap((pid) => children.get(pid) ?? []))
    found.push(...open);
  return found;
}

/** The fields after the command name, from the state on; undefined when the process is gone. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
