// `hearth runs`: what agents did and do, down to each event.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { CliFailure } from './failure.js';
import { followRun, type RunEvent, runEventShape } from './follow-run.js';
import { examples, type PageOptions, showJson, showList, wholeNumber, withPageOptions } from './page.js';
import { printableJson, sheet, shorten, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

const runShape = z.looseObject({
  id: z.string(),
  agent: z.string(),
  session_id: z.string(),
  status: z.string(),
  reason_code: z.string().nullish(),
  attempt: z.number(),
  resumed_from_run_id: z.string().nullish(),
  retry_of_run_id: z.string().nullish(),
  activation_input_id: z.string().nullish(),
  bundle_digest: z.string().nullish(),
  runtime_id: z.string(),
  runtime_version: z.string(),
  result: z.unknown().optional(),
  created_at: z.string(),
  started_at: z.string().nullish(),
  ended_at: z.string().nullish(),
});
const eventsShape = z.looseObject({ items: z.array(runEventShape), cursor: z.string(), ended: z.boolean() });

const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'suspended', 'budget_exceeded'];
const GOOD_ENDS = ['completed', 'suspended'];
const DATA_WIDTH = 100;

interface ListRuns extends PageOptions {
  readonly agent?: string;
  readonly status?: string;
  readonly session?: string;
  readonly since?: string;
  readonly until?: string;
}

interface Events extends CommonOptions {
  readonly after?: string;
  readonly limit?: number;
  readonly follow?: boolean;
}

export function addRunsCommands(program: Command, world: World): void {
  const runs = program.command('runs').description('what agents did and do');

  withPageOptions(runs.command('list'))
    .description('runs, newest first')
    .option('--agent <name>', 'only of this agent')
    .addOption(new Option('--status <status>', 'only in this state').choices(STATUSES))
    .option('--session <id>', 'only of this session')
    .option('--since <instant>', 'only runs made at this time or later, like 2026-01-31T08:00:00Z')
    .option('--until <instant>', 'only runs made before')
    .addHelpText('after', examples('hearth runs list --agent triage --status suspended'))
    .action((_, command: Command) => listRuns(world, command.optsWithGlobals<ListRuns>()));

  runs
    .command('show <id>')
    .description('one run')
    .addHelpText('after', examples('hearth runs show run_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => showRun(world, id, command.optsWithGlobals<CommonOptions>()));

  runs
    .command('events <id>')
    .description('the events of a run; with --follow until it ends, also across cut connections')
    .option('--after <cursor>', 'only events after this cursor')
    .option('--limit <count>', 'how many at most (1 to 200), without --follow', wholeNumber)
    .option('--follow', 'go on until the run ends; exit code 1 unless it completes or suspends')
    .addHelpText('after', examples('hearth runs events run_7dkq2mhx3nqa_01jd… --follow'))
    .action((id: string, _, command: Command) => {
      const options = command.optsWithGlobals<Events>();
      return options.follow === true ? follow(world, id, options) : showEvents(world, id, options);
    });
}

function listRuns(world: World, options: ListRuns): Promise<void> {
  return showList(world, options, {
    at: ['v1', 'runs'],
    query: {
      agent: options.agent,
      status: options.status,
      session: options.session,
      since: options.since,
      until: options.until,
    },
    item: runShape,
    columns: [
      { title: 'RUN', value: (run) => run.id },
      { title: 'AGENT', value: (run) => run.agent },
      { title: 'STATUS', value: (run) => run.status },
      { title: 'REASON', value: (run) => run.reason_code },
      { title: 'ATTEMPT', value: (run) => run.attempt },
      { title: 'CREATED', value: (run) => run.created_at },
    ],
  });
}

async function showRun(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const run = await client.call(runShape, { path: pathOf('v1', 'runs', id) });
  if (options.json === true) return showJson(world, run);
  world.out(
    sheet([
      ['run', run.id],
      ['agent', run.agent],
      ['session', run.session_id],
      ['status', run.status],
      ['reason', run.reason_code],
      ['attempt', run.attempt],
      ['continues', run.resumed_from_run_id],
      ['tries again', run.retry_of_run_id],
      ['woken by', run.activation_input_id],
      ['was shown', run.bundle_digest],
      ['runtime', `${run.runtime_id} ${run.runtime_version}`],
      ['created', run.created_at],
      ['started', run.started_at],
      ['ended', run.ended_at],
      ['result', run.result],
    ]),
  );
}

async function showEvents(world: World, id: string, options: Events): Promise<void> {
  const client = await connect(world, options);
  const query = { after: options.after, limit: options.limit };
  const events = await client.call(eventsShape, { path: pathOf('v1', 'runs', id, 'events'), query });
  if (options.json === true) return showJson(world, events);
  world.out(
    table(events.items, [
      { title: 'NO', value: (event) => event.seq },
      { title: 'AT', value: (event) => event.at },
      { title: 'TYPE', value: (event) => event.type },
      { title: 'DATA', value: (event) => shorten(printableJson(event.data ?? null), DATA_WIDTH) },
    ]),
  );
  if (!events.ended) world.err(`The run goes on: add --follow, or --after ${events.cursor} later.\n`);
}

async function follow(world: World, id: string, options: Events): Promise<void> {
  const client = await connect(world, options);
  const onEvent = (event: RunEvent) =>
    world.out(options.json === true ? `${printableJson(event)}\n` : eventLine(event));
  await followRun(client, { runId: id, after: options.after, onEvent }, world);
  const { status, reason_code: code } = await client.call(runShape, { path: pathOf('v1', 'runs', id) });
  const said = `The run ended ${status}${code ? ` (${code})` : ''}.`;
  if (!GOOD_ENDS.includes(status)) throw new CliFailure('refused', { said });
  world.err(`${said}\n`);
}

function eventLine(event: RunEvent): string {
  return table(
    [event],
    [
      { title: '', value: () => String(event.seq).padStart(4) },
      { title: '', value: () => event.at },
      { title: '', value: () => event.type },
      { title: '', value: () => shorten(printableJson(event.data ?? null), DATA_WIDTH) },
    ],
  ).trimStart();
}
