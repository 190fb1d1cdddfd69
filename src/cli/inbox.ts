// `hearth inbox`: what reached and left a mailbox, oldest first.
import type { Command } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, showJson, wholeNumber } from './page.js';
import { printableJson, shorten, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

const messageShape = z.looseObject({
  position: z.number(),
  direction: z.enum(['in', 'out']),
  sender: z.string(),
  message_id: z.string(),
  conversation_id: z.string().nullish(),
  interaction_type: z.string(),
  body: z.unknown().optional(),
  stored_at: z.string(),
});
type Message = z.infer<typeof messageShape>;

/** Where the kinds of body have their words. */
const wordsShape = z.union([
  z.string(),
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
  z.looseObject({ summary: z.string() }).transform(({ summary }) => summary),
  z.looseObject({ reason: z.string() }).transform(({ reason }) => reason),
  z
    .looseObject({ proposal: z.looseObject({ action: z.string(), subject: z.string() }) })
    .transform(({ proposal }) => `${proposal.action} ${proposal.subject}`),
  z.looseObject({ accepts: z.string() }).transform(({ accepts }) => `the ${accepts}`),
]);

const mailShape = z.looseObject({ items: z.array(messageShape), cursor: z.string() });

const BODY_WIDTH = 80;

interface Inbox extends CommonOptions {
  readonly agent?: string;
  readonly after?: string;
  readonly limit?: number;
}

export function addInboxCommand(program: Command, world: World): void {
  program
    .command('inbox')
    .description('your mailbox, or that of an agent of yours')
    .option('--agent <name>', 'the mailbox of this agent')
    .option('--after <cursor>', 'only what came after')
    .option('--limit <count>', 'how many at most (1 to 200)', wholeNumber)
    .addHelpText('after', examples('hearth inbox --agent triage'))
    .action((_, command: Command) => inbox(world, command.optsWithGlobals<Inbox>()));
}

async function inbox(world: World, options: Inbox): Promise<void> {
  const client = await connect(world, options);
  const { agent, after, limit } = options;
  const mail = await client.call(mailShape, { path: pathOf('v1', 'messages'), query: { agent, after, limit } });
  if (options.json === true) return showJson(world, mail);
  world.out(
    table(mail.items, [
      { title: 'NO', value: (item) => item.position },
      { title: 'WAY', value: (item) => item.direction },
      { title: 'TYPE', value: (item) => item.interaction_type },
      { title: 'FROM', value: (item) => item.sender },
      { title: 'AT', value: (item) => item.stored_at },
      { title: 'WHAT', value: (item) => shorten(bodyText(item), BODY_WIDTH) },
    ]),
  );
  if (mail.items.length > 0) world.err(`What comes next: hearth inbox --after ${mail.cursor}\n`);
}

/** What a person would want to read first; anything without words as JSON. */
function bodyText({ body }: Message): string {
  const said = wordsShape.safeParse(body);
  if (!said.success) return body === null || body === undefined ? '' : printableJson(body);
  return said.data;
}
