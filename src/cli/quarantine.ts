// `hearth quarantine`: what domains that nobody pinned have sent. It is in no mailbox and wakes nobody.
import type { Command } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import type { CommonOptions, World } from './world.js';

const itemShape = z.looseObject({
  peer: z.string(),
  message_id: z.string(),
  sender: z.string(),
  recipient: z.string(),
  bytes: z.number(),
  expires_at: z.string(),
});
const droppedShape = z.looseObject({ domain: z.string(), dropped: z.number() });

interface ListHeld extends PageOptions {
  readonly peer?: string;
}

interface Drop extends CommonOptions {
  readonly message?: string;
}

export function addQuarantineCommands(program: Command, world: World): void {
  const quarantine = program.command('quarantine').description('what strangers sent, held back');

  withPageOptions(quarantine.command('list'))
    .description('who sent what to whom; pin the domain to let it in from now on')
    .option('--peer <domain>', 'only of this domain')
    .addHelpText('after', examples('hearth quarantine list --peer gamma.example'))
    .action((_, command: Command) => listHeld(world, command.optsWithGlobals<ListHeld>()));

  quarantine
    .command('drop <domain>')
    .description('throw away what is held of a domain')
    .option('--message <id>', 'only this message')
    .addHelpText('after', examples('hearth quarantine drop gamma.example'))
    .action((domain: string, _, command: Command) => drop(world, domain, command.optsWithGlobals<Drop>()));
}

function listHeld(world: World, options: ListHeld): Promise<void> {
  return showList(world, options, {
    at: ['admin', 'v1', 'quarantine'],
    query: { peer: options.peer },
    item: itemShape,
    columns: [
      { title: 'DOMAIN', value: (item) => item.peer },
      { title: 'MESSAGE', value: (item) => item.message_id },
      { title: 'FROM', value: (item) => item.sender },
      { title: 'TO', value: (item) => item.recipient },
      { title: 'BYTES', value: (item) => item.bytes },
      { title: 'UNTIL', value: (item) => item.expires_at },
    ],
  });
}

async function drop(world: World, domain: string, options: Drop): Promise<void> {
  const client = await connect(world, options);
  const dropped = await client.call(droppedShape, {
    method: 'DELETE',
    path: pathOf('admin', 'v1', 'quarantine', domain),
    query: { message_id: options.message },
  });
  if (options.json === true) return showJson(world, dropped);
  world.out(`Dropped ${dropped.dropped} of ${dropped.domain}.\n`);
}
