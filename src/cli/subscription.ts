// `hearth agent subscriptions` and `unsubscribe`: which events concern an agent, and how that ends.
import type { Command } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import type { CommonOptions, World } from './world.js';

const subscriptionShape = z.looseObject({
  id: z.string(),
  type: z.string(),
  subject: z.string().nullish(),
  when_active: z.string().nullish(),
  created_at: z.string(),
});

/** Under `hearth agent`. */
export function addSubscriptionCommands(agent: Command, world: World): void {
  withPageOptions(agent.command('subscriptions <name>'))
    .description('what wakes an agent')
    .addHelpText('after', examples('hearth agent subscriptions triage'))
    .action((name: string, _, command: Command) => list(world, name, command.optsWithGlobals<PageOptions>()));

  agent
    .command('unsubscribe <name> <id>')
    .description('let what one subscription names wake an agent no more')
    .addHelpText('after', examples('hearth agent unsubscribe triage sub_7dkq2mhx3nqa_01jd…'))
    .action((name: string, id: string, _, command: Command) =>
      end(world, { name, id }, command.optsWithGlobals<CommonOptions>()),
    );
}

function list(world: World, name: string, options: PageOptions): Promise<void> {
  return showList(world, options, {
    at: ['admin', 'v1', 'agents', name, 'subscriptions'],
    item: subscriptionShape,
    columns: [
      { title: 'SUBSCRIPTION', value: (item) => item.id },
      { title: 'TYPE', value: (item) => item.type },
      { title: 'SUBJECT', value: (item) => item.subject },
      { title: 'WHEN ACTIVE', value: (item) => item.when_active },
      { title: 'SINCE', value: (item) => item.created_at },
    ],
  });
}

async function end(world: World, { name, id }: { name: string; id: string }, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const path = pathOf('admin', 'v1', 'agents', name, 'subscriptions', id);
  await client.call(z.null(), { method: 'DELETE', path });
  if (options.json === true) return showJson(world, { id, ended: true });
  world.out(`${id} wakes ${name} no more.\n`);
}
