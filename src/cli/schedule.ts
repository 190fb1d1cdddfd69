// `hearth schedules`: what happens to agents when its time has come.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { CliFailure } from './failure.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { sheet } from './printable.js';
import type { CommonOptions, World } from './world.js';

const scheduleSchema = z.looseObject({
  id: z.string(),
  agent: z.string(),
  key: z.string().nullish(),
  rule: z.looseObject({ kind: z.string() }),
  deliver: z.string(),
  catch_up: z.string(),
  subject: z.string().nullish(),
  status: z.string(),
  next_fire_at: z.string().nullish(),
  last_slot_at: z.string().nullish(),
  fired_count: z.number(),
});

type Shown = z.infer<typeof scheduleSchema>;

interface AddOptions extends CommonOptions {
  readonly at?: string;
  readonly cron?: string;
  readonly zone?: string;
  readonly every?: string;
  readonly deadline?: string;
  readonly lead?: string;
  readonly key?: string;
  readonly subject?: string;
  readonly data?: string;
  readonly catchUp?: string;
  readonly asEvent?: boolean;
}

export function addScheduleCommands(program: Command, world: World): void {
  const schedules = program.command('schedules').description('what happens to agents when its time has come');

  schedules
    .command('add <agent>')
    .description('set a time; give exactly one of --at, --cron, --every and --deadline')
    .option('--at <instant>', 'once, at this instant (ISO 8601)')
    .option('--cron <expression>', 'five fields: minute, hour, day of month, month, day of week')
    .option('--zone <name>', 'IANA time zone of --cron', 'UTC')
    .option('--every <seconds>', 'again and again, counted from now')
    .option('--deadline <instant>', 'a warning --lead seconds before, and the end itself')
    .option('--lead <seconds>', 'how long before a deadline the warning comes', '0')
    .option('--key <name>', 'set again under the same key, it changes and is not added')
    .option('--subject <resource>', 'what it is about')
    .option('--data <json>', 'what the agent is told beside it')
    .addOption(
      new Option('--catch-up <rule>', 'what is made up for after a standstill').choices(['one', 'none', 'all']),
    )
    .option('--as-event', 'it wakes only who has subscribed or waits')
    .addHelpText(
      'after',
      examples(
        'hearth schedules add triage --cron "0 9 * * 1-5" --zone Europe/Berlin --key morning',
        'hearth schedules add triage --at 2027-01-31T12:00:00Z --subject invoice:17',
      ),
    )
    .action((agent: string, _, command: Command) => add(world, agent, command.optsWithGlobals<AddOptions>()));

  withPageOptions(schedules.command('list <agent>'))
    .description('the schedules of an agent')
    .addOption(new Option('--status <status>', 'only these').choices(['active', 'ended', 'cancelled']))
    .addHelpText('after', examples('hearth schedules list triage --status active'))
    .action((agent: string, _, command: Command) =>
      list(world, agent, command.optsWithGlobals<PageOptions & { status?: string }>()),
    );

  schedules
    .command('show <id>')
    .description('one schedule with its next slot')
    .addHelpText('after', examples('hearth schedules show sch_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => show(world, id, command.optsWithGlobals<CommonOptions>()));

  schedules
    .command('cancel <id>')
    .description('let no further slot of it come')
    .addHelpText('after', examples('hearth schedules cancel sch_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => cancel(world, id, command.optsWithGlobals<CommonOptions>()));
}

async function add(world: World, agent: string, options: AddOptions): Promise<void> {
  const client = await connect(world, options);
  const body = {
    agent,
    rule: ruleOf(options),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.subject === undefined ? {} : { subject: options.subject }),
    ...(options.data === undefined ? {} : { data: dataOf(options.data) }),
    ...(options.catchUp === undefined ? {} : { catch_up: options.catchUp }),
    ...(options.asEvent === true ? { deliver: 'event' } : {}),
  };
  const added = await client.call(scheduleSchema, { method: 'POST', path: pathOf('v1', 'schedules'), body });
  if (options.json === true) return showJson(world, added);
  world.out(`${added.id} comes first at ${added.next_fire_at ?? 'no time'}.\n`);
}

function ruleOf({ at, cron, zone, every, deadline, lead }: AddOptions): object {
  const rules = [
    ...(at === undefined ? [] : [{ kind: 'timer', at }]),
    ...(cron === undefined ? [] : [{ kind: 'cron', cron, zone }]),
    ...(every === undefined ? [] : [{ kind: 'heartbeat', every_s: Number(every) }]),
    ...(deadline === undefined ? [] : [{ kind: 'deadline', at: deadline, lead_s: Number(lead) }]),
  ];
  const [rule, ...others] = rules;
  if (!rule || others.length > 0)
    throw new CliFailure('usage', { said: 'Give exactly one of --at, --cron, --every and --deadline.' });
  return rule;
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliFailure('usage', { said: '--data is not JSON.' });
  }
}

function list(world: World, agent: string, options: PageOptions & { status?: string }): Promise<void> {
  return showList(world, options, {
    at: ['v1', 'schedules'],
    query: { agent, status: options.status },
    item: scheduleSchema,
    columns: [
      { title: 'SCHEDULE', value: (item) => item.id },
      { title: 'KIND', value: (item) => item.rule.kind },
      { title: 'KEY', value: (item) => item.key },
      { title: 'STATUS', value: (item) => item.status },
      { title: 'NEXT', value: (item) => item.next_fire_at },
      { title: 'FIRED', value: (item) => item.fired_count },
    ],
  });
}

async function show(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const found = await client.call(scheduleSchema, { path: pathOf('v1', 'schedules', id) });
  if (options.json === true) return showJson(world, found);
  world.out(sheet(rowsOf(found)));
}

function rowsOf(found: Shown): [string, string | null | undefined][] {
  return [
    ['schedule', found.id],
    ['agent', found.agent],
    ['rule', JSON.stringify(found.rule)],
    ['key', found.key],
    ['as', found.deliver],
    ['catch up', found.catch_up],
    ['subject', found.subject],
    ['status', found.status],
    ['next', found.next_fire_at],
    ['last', found.last_slot_at],
    ['fired', String(found.fired_count)],
  ];
}

async function cancel(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  await client.call(z.null(), { method: 'DELETE', path: pathOf('v1', 'schedules', id) });
  if (options.json === true) return showJson(world, { id, cancelled: true });
  world.out(`${id} comes no more.\n`);
}
