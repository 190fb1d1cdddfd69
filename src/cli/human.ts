// `hearth human`: the people of this domain.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { principalColumns, principalShape, showPrincipal } from './principal.js';
import type { CommonOptions, World } from './world.js';

const createdShape = z.looseObject({ principal: principalShape, recovery_key: z.string() });

interface CreateHuman extends CommonOptions {
  readonly displayName?: string;
  readonly operator?: boolean;
  readonly visibility?: string;
}

export function addHumanCommands(program: Command, world: World): void {
  const human = program.command('human').description('people of this domain');

  human
    .command('create <name>')
    .description('make a human principal: its keys and mailbox')
    .option('--display-name <text>', 'a name for people')
    .option('--operator', 'may run this domain')
    .addOption(new Option('--visibility <who>', 'who sees it in the directory').choices(['public', 'peers', 'hidden']))
    .addHelpText('after', examples('hearth human create ada --display-name "Ada"'))
    .action((name: string, _, command: Command) => createHuman(world, name, command.optsWithGlobals<CreateHuman>()));

  withPageOptions(human.command('list'))
    .description('the people of this domain')
    .addHelpText('after', examples('hearth human list'))
    .action((_, command: Command) =>
      showList(world, command.optsWithGlobals<PageOptions>(), {
        at: ['admin', 'v1', 'humans'],
        item: principalShape,
        columns: principalColumns,
      }),
    );
}

async function createHuman(world: World, name: string, options: CreateHuman): Promise<void> {
  const client = await connect(world, options);
  const body = {
    name,
    display_name: options.displayName,
    roles: options.operator === true ? ['operator'] : undefined,
    visibility: options.visibility,
  };
  const created = await client.call(createdShape, { method: 'POST', path: pathOf('admin', 'v1', 'humans'), body });
  if (options.json === true) return showJson(world, created);
  world.out(showPrincipal(created.principal));
  world.out(`\nRecovery key, shown only now; keep it offline:\n  ${created.recovery_key}\n`);
  world.out(`\nNext, a token to work with:\n  hearth credential issue --kind person --principal ${name}\n`);
}
