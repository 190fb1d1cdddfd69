// `hearth send`: a person sends a message, a request, or an answer to one.
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { parseAddress } from '../protocol/index.js';
import { connect, pathOf } from './client.js';
import { CliFailure } from './failure.js';
import { readInput, readObject } from './json.js';
import { examples, showJson } from './page.js';
import { sheet } from './printable.js';
import type { CommonOptions, World } from './world.js';

const sentShape = z.looseObject({
  effect_id: z.string(),
  status: z.string(),
  result: z
    .looseObject({
      message_id: z.string(),
      conversation_id: z.string(),
      commitment_id: z.string().nullish(),
      proposal_digest: z.string().nullish(),
    })
    .nullish(),
  reason_code: z.string().nullish(),
});

const KEY_BYTES = 16;

interface Send extends CommonOptions {
  readonly type: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly conversation?: string;
  readonly idempotencyKey?: string;
}

export function addSendCommand(program: Command, world: World): void {
  program
    .command('send <to> [text]')
    .description('send a message or a typed interaction to an address')
    .option('--type <type>', 'message, request, accept, reject or report', 'message')
    .option('--body <json>', 'the body of the interaction, instead of a text')
    .option('--body-file <file>', 'the same from a file; - reads standard input')
    .option('--conversation <id>', 'go on in this conversation')
    .option('--idempotency-key <key>', 'sending again under the same key sends nothing twice', readKey)
    .addHelpText(
      'after',
      examples(
        'hearth send agent://beta.test/agents/reviewer "Could you look at this?"',
        `hearth send agent://beta.test/agents/reviewer --type request --body '{"action": "review", "subject": "pull/7"}'`,
      ),
    )
    .action((to: string, text: string | undefined, _, command: Command) =>
      send(world, { to, text }, command.optsWithGlobals<Send>()),
    );
}

async function send(
  world: World,
  { to, text }: { to: string; text: string | undefined },
  options: Send,
): Promise<void> {
  const body = await readBody(text, options);
  const key = options.idempotencyKey ?? `cli-${Buffer.from(world.random.bytes(KEY_BYTES)).toString('hex')}`;
  const client = await connect(world, options);
  const call = {
    method: 'POST',
    path: pathOf('v1', 'messages'),
    headers: { 'idempotency-key': key },
    body: { to, type: options.type, conversation_id: options.conversation, body },
  } as const;
  const sent = await client.call(sentShape, call).catch((error: unknown) => {
    throw advised(error, { key, to });
  });
  if (options.json === true) return showJson(world, sent);
  world.out(
    sheet([
      ['status', sent.status],
      ['reason', sent.reason_code],
      ['message', sent.result?.message_id],
      ['conversation', sent.result?.conversation_id],
      ['commitment', sent.result?.commitment_id],
      ['effect', sent.effect_id],
    ]),
  );
}

async function readBody(text: string | undefined, options: Send): Promise<Record<string, unknown>> {
  const given = [text, options.body, options.bodyFile].filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw new CliFailure('usage', { said: 'Give a text, or --body, or --body-file: exactly one of them.' });
  }
  if (options.body !== undefined) return readObject(options.body, '--body');
  if (options.bodyFile !== undefined) return readObject(await readInput(options.bodyFile), options.bodyFile);
  if (options.type === 'message') return { text };
  throw new CliFailure('usage', {
    said: `A ${options.type} is not a text.`,
    advice: 'Give its body as JSON with --body or --body-file.',
  });
}

/** What to do is known here better than at the door. */
function advised(error: unknown, { key, to }: { key: string; to: string }): unknown {
  if (!(error instanceof CliFailure)) return error;
  if (error.reason === 'peer_unknown') {
    const domain = parseAddress(to)?.domain ?? 'its domain';
    return error.advise(
      `Compare fingerprints with the operator of ${domain}, then: hearth peer pin ${domain} FINGERPRINT`,
    );
  }
  if (error.reason?.startsWith('commitment_')) return error.advise('See where it stands: hearth commitment show ID');
  if (!error.retryable) return error;
  // The answer may have been lost on the way back: the key makes it safe to ask again.
  const repeat = `It may have been sent: to repeat it safely, add --idempotency-key ${key}`;
  return error.advise(error.advice === undefined ? repeat : `${error.advice}\n  ${repeat}`);
}

function readKey(text: string): string {
  if (!/^[\x21-\x7e]{1,128}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 128 plain characters.');
  return text;
}
