// What `npm run bench` can be asked for.
import { parseArgs } from 'node:util';

export const groups = ['machine', 'delivery', 'runs'] as const;
export type Group = (typeof groups)[number];

export interface BenchOptions {
  only: readonly Group[];
  rounds: number;
  scale: number;
  json: boolean;
}

export const usage = `npm run bench -- [--only GROUP,…] [--rounds N] [--scale FACTOR] [--json]

Measures Hearth beside the smallest honest program that does the same, in one run on real PostgreSQL, and prints one table.
It needs an otherwise quiet machine: compare ratios within a run, never figures of two runs.

  --only      of ${groups.join(', ')}; all of them without
  --rounds    how often each is measured; the table shows medians (5)
  --scale     how much is done in a round, as a factor (1)
  --json      the figures as JSON
`;

/** A sentence when the arguments cannot be understood; undefined when only the usage is wanted. */
export function readOptions(args: string[]): BenchOptions | string | undefined {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (values.help) return undefined;
  const named = values.only?.split(',') ?? groups;
  const unknown = named.find((name) => !isGroup(name));
  if (unknown !== undefined) return `There is no group ${unknown}: ${groups.join(', ')}.`;
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) return '--rounds is a whole number from 1.';
  const scale = Number(values.scale);
  if (!(scale > 0)) return '--scale is a number above 0.';
  return { only: named.filter(isGroup), rounds, scale, json: values.json };
}

function isGroup(name: string): name is Group {
  return groups.some((group) => group === name);
}

function parse(args: string[]) {
  return parseArgs({
    args,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      scale: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }).values;
}
