// `hearth commitment`: promises between principals, with the signed steps that made them what they are.
import type { Command } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { sheet, table } from './printable.js';
import type { CommonOptions, World } from './world.js';

const commitmentShape = z.looseObject({
  commitment_id: z.string(),
  conversation_id: z.string(),
  debtor: z.string(),
  creditor: z.string(),
  proposal_version: z.number(),
  proposal_digest: z.string(),
  deadline: z.string().nullish(),
  local_assessment: z.string(),
  content: z.unknown().optional(),
});
const withTransitionsShape = commitmentShape.extend({
  transitions: z.array(
    z.looseObject({
      position: z.number(),
      kind: z.string(),
      author: z.string(),
      digest: z.string(),
      stored_at: z.string(),
    }),
  ),
});

interface OfAgent extends PageOptions {
  readonly agent?: string;
}

export function addCommitmentCommands(program: Command, world: World): void {
  const commitment = program.command('commitment').description('promises and their state');

  commitment
    .command('show <id>')
    .description('one promise with its signed transitions')
    .option('--agent <name>', 'as this agent of yours holds it')
    .addHelpText('after', examples('hearth commitment show cmt_alpha.test_7dkq2mhx3nqa_01jd… --agent triage'))
    .action((id: string, _, command: Command) => show(world, id, command.optsWithGlobals<CommonOptions & OfAgent>()));

  withPageOptions(commitment.command('list'))
    .description('your promises, or those of an agent of yours')
    .option('--agent <name>', 'of this agent')
    .addHelpText('after', examples('hearth commitment list --agent triage'))
    .action((_, command: Command) => list(world, command.optsWithGlobals<OfAgent>()));
}

async function show(world: World, id: string, options: OfAgent): Promise<void> {
  const client = await connect(world, options);
  const query = { agent: options.agent };
  const found = await client.call(withTransitionsShape, { path: pathOf('v1', 'commitments', id), query });
  if (options.json === true) return showJson(world, found);
  world.out(
    sheet([
      ['commitment', found.commitment_id],
      ['state here', found.local_assessment],
      ['debtor', found.debtor],
      ['creditor', found.creditor],
      ['deadline', found.deadline],
      ['proposal', `version ${found.proposal_version}, ${found.proposal_digest}`],
      ['conversation', found.conversation_id],
      ['content', found.content],
    ]),
  );
  world.out('\n');
  world.out(
    table(found.transitions, [
      { title: 'NO', value: (step) => step.position },
      { title: 'STEP', value: (step) => step.kind },
      { title: 'BY', value: (step) => step.author },
      { title: 'AT', value: (step) => step.stored_at },
      { title: 'DIGEST', value: (step) => step.digest },
    ]),
  );
}

function list(world: World, options: OfAgent): Promise<void> {
  return showList(world, options, {
    at: ['v1', 'commitments'],
    query: { agent: options.agent },
    item: commitmentShape,
    columns: [
      { title: 'COMMITMENT', value: (item) => item.commitment_id },
      { title: 'STATE', value: (item) => item.local_assessment },
      { title: 'DEBTOR', value: (item) => item.debtor },
      { title: 'CREDITOR', value: (item) => item.creditor },
      { title: 'DEADLINE', value: (item) => item.deadline },
    ],
  });
}
