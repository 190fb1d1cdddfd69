// `hearth inputs`: what came in, and what was decided on it.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { printableJson, sheet, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

const dispositionShape = z.looseObject({
  agent: z.string().nullish(),
  decision: z.string(),
  reason: z.string(),
  status: z.string(),
  run_id: z.string().nullish(),
});

const inputShape = z.looseObject({
  id: z.string(),
  kind: z.string(),
  type: z.string(),
  source: z.string(),
  source_event_id: z.string(),
  principal: z.string(),
  trust_class: z.string(),
  received_at: z.string(),
  data: z.unknown().optional(),
  disposition: z.array(dispositionShape),
  more_dispositions: z.boolean().optional(),
});

type ShownDisposition = z.infer<typeof dispositionShape>;

const dispositionColumns = [
  { title: 'AGENT', value: (item: ShownDisposition) => item.agent },
  { title: 'DECISION', value: (item: ShownDisposition) => item.decision },
  { title: 'REASON', value: (item: ShownDisposition) => item.reason },
  { title: 'STATUS', value: (item: ShownDisposition) => item.status },
  { title: 'RUN', value: (item: ShownDisposition) => item.run_id },
];

const KINDS = ['command', 'event', 'context', 'control'];
const DECISIONS = ['IGNORE', 'PROJECT', 'ACTIVATE', 'ENQUEUE', 'STEER', 'INTERRUPT', 'FORK', 'RESUME'];

interface ListInputs extends PageOptions {
  readonly kind?: string;
  readonly type?: string;
  readonly source?: string;
  readonly disposition?: string;
  readonly agent?: string;
  readonly since?: string;
  readonly until?: string;
}

export function addInputCommands(program: Command, world: World): void {
  const inputs = program.command('inputs').description('what came in, and what was decided on it');

  withPageOptions(inputs.command('list'))
    .description('inputs, newest first')
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(KINDS))
    .option('--type <type>', 'only of this type; github.* for all that begin so')
    .option('--source <source>', 'only from this source')
    .addOption(new Option('--disposition <decision>', 'only with this decision').choices(DECISIONS))
    .option('--agent <name>', 'only what concerned this agent')
    .option('--since <instant>', 'only what came at this time or later, like 2026-01-31T08:00:00Z')
    .option('--until <instant>', 'only what came before')
    .addHelpText('after', examples("hearth inputs list --type 'github.*' --disposition IGNORE"))
    .action((_, command: Command) => listInputs(world, command.optsWithGlobals<ListInputs>()));

  withPageOptions(inputs.command('dispositions <id>'))
    .description('everything that was decided on one input, however many it concerns')
    .addHelpText('after', examples('hearth inputs dispositions in_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => listDispositions(world, id, command.optsWithGlobals<PageOptions>()));

  inputs
    .command('show <id>')
    .description('one input')
    .addHelpText('after', examples('hearth inputs show in_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => showInput(world, id, command.optsWithGlobals<CommonOptions>()));
}

function listInputs(world: World, options: ListInputs): Promise<void> {
  const { kind, type, source, disposition, agent, since, until } = options;
  return showList(world, options, {
    at: ['v1', 'inputs'],
    query: { kind, type, source, disposition, agent, since, until },
    item: inputShape,
    columns: [
      { title: 'INPUT', value: (input) => input.id },
      { title: 'KIND', value: (input) => input.kind },
      { title: 'TYPE', value: (input) => input.type },
      { title: 'SOURCE', value: (input) => input.source },
      { title: 'DECIDED', value: (input) => input.disposition.map(({ decision }) => decision).join(' ') },
      { title: 'RECEIVED', value: (input) => input.received_at },
    ],
  });
}

async function showInput(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const input = await client.call(inputShape, { path: pathOf('v1', 'inputs', id) });
  if (options.json === true) return showJson(world, input);
  world.out(
    sheet([
      ['input', input.id],
      ['kind', input.kind],
      ['type', input.type],
      ['source', input.source],
      ['event', input.source_event_id],
      ['from', input.principal],
      ['trusted as', input.trust_class],
      ['received', input.received_at],
      ['data', printableJson(input.data ?? null)],
    ]),
  );
  world.out('\n');
  world.out(table(input.disposition, dispositionColumns));
  if (input.more_dispositions === true) world.out(`\nThere are more: hearth inputs dispositions ${input.id}\n`);
}

function listDispositions(world: World, id: string, options: PageOptions): Promise<void> {
  return showList(world, options, {
    at: ['v1', 'inputs', id, 'dispositions'],
    query: {},
    item: dispositionShape,
    columns: dispositionColumns,
  });
}
