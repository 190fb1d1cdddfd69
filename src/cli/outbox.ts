// `hearth outbox`: what waits for other domains, what reached them and what died on the way.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { examples, type PageOptions, showList, withPageOptions } from './page.js';
import type { World } from './world.js';

const itemShape = z.looseObject({
  peer: z.string(),
  position: z.number(),
  message_id: z.string(),
  sender: z.string(),
  recipients: z.array(z.string()),
  status: z.string(),
  attempt: z.number(),
  reason_code: z.string().nullish(),
  queued_at: z.string(),
});

interface Outbox extends PageOptions {
  readonly peer?: string;
  readonly status?: string;
}

export function addOutboxCommand(program: Command, world: World): void {
  withPageOptions(program.command('outbox'))
    .description('messages on their way to other domains')
    .option('--peer <domain>', 'only to this domain')
    .addOption(
      new Option('--status <status>', 'only in this state').choices([
        'queued',
        'delivered',
        'parked',
        'rejected',
        'dead',
      ]),
    )
    .addHelpText('after', examples('hearth outbox --peer beta.test --status queued'))
    .action((_, command: Command) => outbox(world, command.optsWithGlobals<Outbox>()));
}

function outbox(world: World, options: Outbox): Promise<void> {
  return showList(world, options, {
    at: ['admin', 'v1', 'outbox'],
    query: { peer: options.peer, status: options.status },
    item: itemShape,
    columns: [
      { title: 'PEER', value: (item) => item.peer },
      { title: 'NO', value: (item) => item.position },
      { title: 'MESSAGE', value: (item) => item.message_id },
      { title: 'TO', value: (item) => item.recipients },
      { title: 'STATUS', value: (item) => item.status },
      { title: 'ATTEMPT', value: (item) => item.attempt },
      { title: 'REASON', value: (item) => item.reason_code },
      { title: 'QUEUED', value: (item) => item.queued_at },
    ],
  });
}
