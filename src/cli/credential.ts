// `hearth credential`: tokens for producers, people and operators. A token is shown once and stored only as a hash.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import type { CommonOptions, World } from './world.js';

const credentialShape = z.looseObject({
  id: z.string(),
  kind: z.string(),
  address: z.string(),
  label: z.string(),
  expires_at: z.string().nullish(),
  revoked_at: z.string().nullish(),
  created_at: z.string(),
});
const issuedShape = z.looseObject({ credential: credentialShape, token: z.string() });

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

interface IssueCredential extends CommonOptions {
  readonly kind: string;
  readonly principal: string;
  readonly label?: string;
  readonly expiresIn?: number;
}

export function addCredentialCommands(program: Command, world: World): void {
  const credential = program.command('credential').description('tokens to call this domain with');

  credential
    .command('issue')
    .description('make a token; it is shown once')
    .addOption(
      new Option('--kind <kind>', 'what it is for').choices(['producer', 'person', 'operator']).makeOptionMandatory(),
    )
    .requiredOption('--principal <name>', 'whose it is: a source for producer, else a human')
    .option('--label <text>', 'what it is for, in your words')
    .option('--expires-in <time>', 'such as 30d, 12h or 90m (default: never)', parseSeconds)
    .addHelpText('after', examples('hearth credential issue --kind person --principal ada --expires-in 30d'))
    .action((_, command: Command) => issue(world, command.optsWithGlobals<IssueCredential>()));

  withPageOptions(credential.command('list'))
    .description('the tokens that were issued, without their text')
    .addHelpText('after', examples('hearth credential list'))
    .action((_, command: Command) =>
      showList(world, command.optsWithGlobals<PageOptions>(), {
        at: ['admin', 'v1', 'credentials'],
        item: credentialShape,
        columns: [
          { title: 'ID', value: (item) => item.id },
          { title: 'KIND', value: (item) => item.kind },
          { title: 'PRINCIPAL', value: (item) => item.address },
          { title: 'LABEL', value: (item) => item.label },
          { title: 'EXPIRES', value: (item) => item.expires_at },
          { title: 'REVOKED', value: (item) => item.revoked_at },
        ],
      }),
    );

  credential
    .command('revoke <id>')
    .description('end a token now')
    .addHelpText('after', examples('hearth credential revoke cred_7dkq2mhx3nqa_01jd…'))
    .action((id: string, _, command: Command) => revoke(world, id, command.optsWithGlobals<CommonOptions>()));
}

async function issue(world: World, options: IssueCredential): Promise<void> {
  const client = await connect(world, options);
  const issued = await client.call(issuedShape, {
    method: 'POST',
    path: pathOf('admin', 'v1', 'credentials'),
    body: {
      kind: options.kind,
      principal: options.principal,
      label: options.label,
      expires_in_s: options.expiresIn,
    },
  });
  if (options.json === true) return showJson(world, issued);
  const { credential, token } = issued;
  const until = credential.expires_at ? `until ${credential.expires_at}` : 'without end';
  world.out(`Token for ${credential.address}, ${until} (${credential.id}). It is shown only now:\n  ${token}\n`);
}

async function revoke(world: World, id: string, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const path = `${pathOf('admin', 'v1', 'credentials', id)}/revoke`;
  const revoked = await client.call(z.looseObject({ id: z.string() }), { method: 'POST', path });
  if (options.json === true) return showJson(world, revoked);
  world.out(`${revoked.id} is revoked: from now on its token opens nothing.\n`);
}

/** `30d` in seconds. */
function parseSeconds(text: string): number {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  const unit = UNIT_SECONDS[match?.[2] ?? ''];
  if (!match || unit === undefined) throw new InvalidArgumentError('It must look like 30d, 12h, 90m or 45s.');
  return Number(match[1]) * unit;
}
