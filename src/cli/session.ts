// `hearth sessions`: where agents' pieces of work stand, and what waits for them.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { sheet, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

const listedShape = z.looseObject({
  id: z.string(),
  agent: z.string(),
  state: z.string(),
  active_run_id: z.string().nullish(),
  forked_from_session_id: z.string().nullish(),
  updated_at: z.string(),
});

const sessionShape = listedShape.extend({
  suspension: z.looseObject({ id: z.string(), reason: z.string() }).nullish(),
  lane: z.array(z.looseObject({ input_id: z.string(), reason: z.string(), decided_at: z.string() })),
});

interface ListSessions extends PageOptions {
  readonly agent?: string;
  readonly state?: string;
}

export function addSessionCommands(program: Command, world: World): void {
  const sessions = program.command('sessions').description("where agents' pieces of work stand");

  withPageOptions(sessions.command('list'))
    .description('sessions, newest first')
    .option('--agent <name>', 'only of this agent')
    .addOption(new Option('--state <state>', 'only in this state').choices(['idle', 'active', 'suspended']))
    .addHelpText('after', examples('hearth sessions list --agent triage --state suspended'))
    .action((_, command: Command) => listSessions(world, command.optsWithGlobals<ListSessions>()));

  sessions
    .command('show <id>')
    .description('one session with its lane')
    .addHelpText('after', examples('hearth sessions show ses_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => showSession(world, id, command.optsWithGlobals<CommonOptions>()));
}

function listSessions(world: World, options: ListSessions): Promise<void> {
  return showList(world, options, {
    at: ['v1', 'sessions'],
    query: { agent: options.agent, state: options.state },
    item: listedShape,
    columns: [
      { title: 'SESSION', value: (session) => session.id },
      { title: 'AGENT', value: (session) => session.agent },
      { title: 'STATE', value: (session) => session.state },
      { title: 'RUN', value: (session) => session.active_run_id },
      { title: 'CHANGED', value: (session) => session.updated_at },
    ],
  });
}

async function showSession(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const session = await client.call(sessionShape, { path: pathOf('v1', 'sessions', id) });
  if (options.json === true) return showJson(world, session);
  world.out(
    sheet([
      ['session', session.id],
      ['agent', session.agent],
      ['state', session.state],
      ['run', session.active_run_id],
      ['waits for', session.suspension?.reason],
      ['forked from', session.forked_from_session_id],
      ['changed', session.updated_at],
    ]),
  );
  if (session.lane.length === 0) return;
  world.out('\n');
  world.out(
    table(session.lane, [
      { title: 'QUEUED INPUT', value: (item) => item.input_id },
      { title: 'REASON', value: (item) => item.reason },
      { title: 'SINCE', value: (item) => item.decided_at },
    ]),
  );
}
