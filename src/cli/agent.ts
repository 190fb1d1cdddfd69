// `hearth agent`: makes agents, shows them, pauses and resumes them, and says which events concern them.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { readInput, readObject } from './json.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { sheet } from './printable.js';
import { addSubscriptionCommands } from './subscription.js';
import type { CommonOptions, World } from './world.js';

const agentShape = z.looseObject({
  address: z.string(),
  principal_id: z.string(),
  owner: z.string(),
  status: z.string(),
  display_name: z.string().nullish(),
  visibility: z.string().nullish(),
  runtime: z.looseObject({ id: z.string() }),
  attention: z.unknown().optional(),
  capability_grants: z.array(z.looseObject({ action: z.string(), target: z.string() })).nullish(),
  key_refs: z.array(z.string()).nullish(),
  placement_epoch: z.number().nullish(),
});
type Agent = z.infer<typeof agentShape>;

const createdShape = z.looseObject({ agent: agentShape, recovery_key: z.string() });
const subscriptionShape = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string().nullish(),
  when_active: z.string().nullish(),
});

const LANE_ORDERS = ['arrival', 'priority'] as const;
const WHEN_ACTIVE = ['enqueue', 'steer', 'fork', 'project'] as const;

interface Grant {
  readonly action: string;
  readonly target: string;
}

interface CreateAgent extends CommonOptions {
  readonly owner?: string;
  readonly displayName?: string;
  readonly visibility?: string;
  readonly runtime: string;
  readonly runtimeConfig?: string;
  readonly whenActive?: string;
  readonly laneOrder?: string;
  readonly mergeWindow?: number;
  readonly grant?: readonly Grant[];
  readonly subscribe?: readonly string[];
}

interface Subscribe extends CommonOptions {
  readonly subject?: string;
  readonly whenActive?: string;
}

export function addAgentCommands(program: Command, world: World): void {
  const agent = program.command('agent').description('agents of this domain');
  addCreate(agent, world);
  addSubscribe(agent, world);
  addSubscriptionCommands(agent, world);

  withPageOptions(agent.command('list'))
    .description('the agents you may see')
    .addHelpText('after', examples('hearth agent list'))
    .action((_, command: Command) => listAgents(world, command.optsWithGlobals<PageOptions>()));

  for (const [verb, description] of [
    ['show', 'one agent with its home'],
    ['pause', 'let an agent keep its mail but start no new run'],
    ['resume', 'let a paused agent work again'],
    ['end', 'end an agent for good; its address is never given again'],
  ] as const) {
    agent
      .command(`${verb} <name>`)
      .description(description)
      .addHelpText('after', examples(`hearth agent ${verb} triage`))
      .action((name: string, _, command: Command) => askForAgent(world, command.optsWithGlobals(), { verb, name }));
  }
}

function addCreate(agent: Command, world: World): void {
  agent
    .command('create <name>')
    .description('make an agent: its home, keys and mailbox')
    .option('--owner <human>', 'the human it belongs to (default: you)')
    .option('--display-name <text>', 'a name for people')
    .addOption(new Option('--visibility <who>', 'who sees it in the directory').choices(['public', 'peers', 'hidden']))
    .option('--runtime <id>', 'what executes it', 'scripted')
    .option('--runtime-config <file>', 'JSON for the runtime; - reads standard input')
    .addOption(new Option('--when-active <how>', 'what an event does to a busy session').choices(WHEN_ACTIVE))
    .addOption(new Option('--lane-order <how>', 'how a busy session works off its queue').choices(LANE_ORDERS))
    .option('--merge-window <ms>', 'how long a queued event waits for others like it, to become one run', Number)
    .option('--grant <action=target>', 'what it may do; * at the end matches any rest; may be repeated', collectGrant)
    .option('--subscribe <type>', 'events that wake it, such as github.*; may be repeated', collectText)
    .addHelpText(
      'after',
      examples(
        "hearth agent create triage --runtime-config triage.json --subscribe 'github.pull_request.*' \\\n" +
          "      --grant 'interaction.request=agent://beta.test/*'",
      ),
    )
    .action((name: string, _, command: Command) => createAgent(world, name, command.optsWithGlobals<CreateAgent>()));
}

function addSubscribe(agent: Command, world: World): void {
  agent
    .command('subscribe <name> <type>')
    .description('let events of a type wake an agent')
    .option('--subject <resource>', 'only about this resource')
    .addOption(new Option('--when-active <how>', 'what such an event does to a busy session').choices(WHEN_ACTIVE))
    .addHelpText('after', examples("hearth agent subscribe triage 'github.pull_request.*'"))
    .action((name: string, type: string, _, command: Command) =>
      subscribe(world, { name, type }, command.optsWithGlobals<Subscribe>()),
    );
}

async function createAgent(world: World, name: string, options: CreateAgent): Promise<void> {
  const file = options.runtimeConfig;
  const body = {
    name,
    display_name: options.displayName,
    owner: options.owner,
    visibility: options.visibility,
    runtime: { id: options.runtime, config: file === undefined ? {} : readObject(await readInput(file), file) },
    attention: {
      when_active: options.whenActive,
      lane_order: options.laneOrder,
      merge_window_ms: options.mergeWindow,
    },
    grants: options.grant,
    subscriptions: options.subscribe?.map((type) => ({ type })),
  };
  const client = await connect(world, options);
  const created = await client.call(createdShape, { method: 'POST', path: pathOf('admin', 'v1', 'agents'), body });
  if (options.json === true) return showJson(world, created);
  world.out(showAgent(created.agent));
  world.out(`\nRecovery key, shown only now; keep it offline:\n  ${created.recovery_key}\n`);
}

function listAgents(world: World, options: PageOptions): Promise<void> {
  return showList(world, options, {
    at: ['admin', 'v1', 'agents'],
    item: agentShape,
    columns: [
      { title: 'ADDRESS', value: (agent) => agent.address },
      { title: 'STATUS', value: (agent) => agent.status },
      { title: 'RUNTIME', value: (agent) => agent.runtime.id },
      { title: 'OWNER', value: (agent) => agent.owner },
    ],
  });
}

type AskForAgent = { readonly verb: 'show' | 'pause' | 'resume' | 'end'; readonly name: string };

async function askForAgent(world: World, options: CommonOptions, { verb, name }: AskForAgent): Promise<void> {
  const client = await connect(world, options);
  const path = pathOf('admin', 'v1', 'agents', name);
  const agent = await client.call(agentShape, verb === 'show' ? { path } : { method: 'POST', path: `${path}/${verb}` });
  if (options.json === true) return showJson(world, agent);
  world.out(showAgent(agent));
}

async function subscribe(
  world: World,
  { name, type }: { name: string; type: string },
  options: Subscribe,
): Promise<void> {
  const client = await connect(world, options);
  const subscription = await client.call(subscriptionShape, {
    method: 'POST',
    path: pathOf('admin', 'v1', 'agents', name, 'subscriptions'),
    body: { type, subject: options.subject, when_active: options.whenActive },
  });
  if (options.json === true) return showJson(world, subscription);
  const about = subscription.subject ? ` about ${subscription.subject}` : '';
  world.out(`${name} is now woken by ${subscription.type}${about} (${subscription.id}).\n`);
}

function showAgent(agent: Agent): string {
  return sheet([
    ['address', agent.address],
    ['name', agent.display_name],
    ['principal id', agent.principal_id],
    ['status', agent.status],
    ['owner', agent.owner],
    ['visibility', agent.visibility],
    ['runtime', agent.runtime.id],
    ['attention', agent.attention],
    ['may do', agent.capability_grants?.map(({ action, target }) => `${action}=${target}`)],
    ['keys', agent.key_refs],
    ['placement epoch', agent.placement_epoch],
  ]);
}

function collectText(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

function collectGrant(text: string, earlier: readonly Grant[] = []): readonly Grant[] {
  const split = text.indexOf('=');
  const grant = { action: text.slice(0, split), target: text.slice(split + 1) };
  if (split < 1 || grant.target === '') throw new InvalidArgumentError('It must look like action=target.');
  return [...earlier, grant];
}
