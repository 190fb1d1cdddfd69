// Lists come in pages: the answer for programs, a table with the way to the next page for people.
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { type Column, printableJson, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

export interface PageOptions extends CommonOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface List<Item> {
  readonly at: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly item: z.ZodType<Item>;
  readonly columns: readonly Column<Item>[];
}

export function withPageOptions(command: Command): Command {
  return command
    .option('--limit <count>', 'how many at most (1 to 200)', wholeNumber)
    .option('--cursor <cursor>', 'go on where the last page ended');
}

export async function showList<Item>(world: World, options: PageOptions, list: List<Item>): Promise<void> {
  const client = await connect(world, options);
  const shape = z.looseObject({ items: z.array(list.item), next_cursor: z.string().nullish() });
  const query = { ...list.query, limit: options.limit, cursor: options.cursor };
  const answer = await client.call(shape, { path: pathOf(...list.at), query });
  if (options.json === true) return showJson(world, answer);
  world.out(table(answer.items, list.columns));
  if (answer.next_cursor) world.err(`There is more: add --cursor ${answer.next_cursor}\n`);
}

/** The answer as it came, indented: the form for programs. */
export function showJson(world: World, answer: unknown): void {
  world.out(`${printableJson(answer, 2)}\n`);
}

/** What stands under the help of a command. */
export function examples(...lines: readonly string[]): string {
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

/** Parses a whole number of the command line. */
export function wholeNumber(text: string): number {
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
