// `hearth source`: outside sources, each a service principal with a mailbox; with an adapter also a webhook.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { principalColumns, principalShape, showPrincipal } from './principal.js';
import { sheet } from './printable.js';
import type { CommonOptions, World } from './world.js';

const sourceShape = principalShape.extend({
  webhook: z.looseObject({ adapter: z.string(), url: z.string() }).nullish(),
});
type Source = z.infer<typeof sourceShape>;
const createdShape = z.looseObject({
  principal: principalShape,
  recovery_key: z.string(),
  webhook: z.looseObject({ adapter: z.string(), url: z.string(), secret: z.string() }).nullish(),
});

interface CreateSource extends CommonOptions {
  readonly adapter?: string;
  readonly displayName?: string;
}

export function addSourceCommands(program: Command, world: World): void {
  const source = program.command('source').description('services and webhooks that send events');

  source
    .command('create <name>')
    .description('make a service principal; with --adapter also a webhook for it')
    .addOption(new Option('--adapter <kind>', 'the webhooks it understands').choices(['github']))
    .option('--display-name <text>', 'a name for people')
    .addHelpText('after', examples('hearth source create github --adapter github'))
    .action((name: string, _, command: Command) => createSource(world, name, command.optsWithGlobals<CreateSource>()));

  withPageOptions(source.command('list'))
    .description('the sources of this domain')
    .addHelpText('after', examples('hearth source list'))
    .action((_, command: Command) =>
      showList<Source>(world, command.optsWithGlobals<PageOptions>(), {
        at: ['admin', 'v1', 'sources'],
        item: sourceShape,
        columns: [...principalColumns, { title: 'WEBHOOK', value: (item) => item.webhook?.url }],
      }),
    );
}

async function createSource(world: World, name: string, options: CreateSource): Promise<void> {
  const body = { name, adapter: options.adapter, display_name: options.displayName };
  const client = await connect(world, options);
  const created = await client.call(createdShape, { method: 'POST', path: pathOf('admin', 'v1', 'sources'), body });
  if (options.json === true) return showJson(world, created);
  world.out(showPrincipal(created.principal));
  world.out(`\nRecovery key, shown only now; keep it offline:\n  ${created.recovery_key}\n`);
  if (!created.webhook) {
    world.out(`\nNext, a token for it:\n  hearth credential issue --kind producer --principal ${name}\n`);
    return;
  }
  const { url, secret } = created.webhook;
  world.out('\nEnter this at the sender; the secret is shown only now:\n');
  world.out(
    sheet([
      ['  payload url', url],
      ['  content type', 'application/json'],
      ['  secret', secret],
    ]),
  );
}
