// `hearth peer`: which other domains are trusted here. Nothing is trusted before its fingerprint was pinned by a person.
import type { Command } from 'commander';
import { z } from 'zod';
import { connect, pathOf } from './client.js';
import { examples, type PageOptions, showJson, showList, withPageOptions } from './page.js';
import { sheet } from './printable.js';
import type { CommonOptions, World } from './world.js';

const peerShape = z.looseObject({
  domain: z.string(),
  relationship: z.string(),
  fingerprint: z.string().nullish(),
  gateway: z.string().nullish(),
  bundle_sequence: z.union([z.string(), z.number()]).nullish(),
  bundle_fetched_at: z.string().nullish(),
  held_reason: z.string().nullish(),
  last_error: z.string().nullish(),
  delivery: z
    .looseObject({
      failures: z.number(),
      next_attempt_at: z.string().nullish(),
      last_success_at: z.string().nullish(),
      queued: z.number(),
    })
    .nullish(),
});
type Peer = z.infer<typeof peerShape>;

const domainShape = z.looseObject({ domain: z.string(), fingerprint: z.string() });

export function addPeerCommands(program: Command, world: World): void {
  const peer = program.command('peer').description('other domains and the trust in them');

  peer
    .command('fingerprint')
    .description("this domain's own fingerprint, for its peers to pin")
    .addHelpText('after', examples('hearth peer fingerprint'))
    .action((_, command: Command) => showFingerprint(world, command.optsWithGlobals<CommonOptions>()));

  peer
    .command('pin <domain> <fingerprint>')
    .description('trust a domain whose fingerprint you compared with its operator')
    .addHelpText(
      'after',
      examples('hearth peer pin beta.test "$(hearth --url http://127.0.0.1:7521 peer fingerprint)"'),
    )
    .action((domain: string, fingerprint: string, _, command: Command) =>
      pin(world, { domain, fingerprint }, command.optsWithGlobals<CommonOptions>()),
    );

  withPageOptions(peer.command('list'))
    .description('the domains known here')
    .addHelpText('after', examples('hearth peer list'))
    .action((_, command: Command) => listPeers(world, command.optsWithGlobals<PageOptions>()));

  peer
    .command('show <domain>')
    .description('one domain and how delivery to it goes')
    .addHelpText('after', examples('hearth peer show beta.test'))
    .action((domain: string, _, command: Command) =>
      askForPeer(world, command.optsWithGlobals(), { path: pathOf('admin', 'v1', 'peers', domain) }),
    );

  peer
    .command('block <domain>')
    .description('refuse everything from a domain')
    .addHelpText('after', examples('hearth peer block beta.test'))
    .action((domain: string, _, command: Command) =>
      askForPeer(world, command.optsWithGlobals(), {
        method: 'POST',
        path: `${pathOf('admin', 'v1', 'peers', domain)}/block`,
      }),
    );
}

async function showFingerprint(world: World, options: CommonOptions): Promise<void> {
  const client = await connect(world, options);
  const domain = await client.call(domainShape, { path: pathOf('admin', 'v1', 'domain') });
  if (options.json === true) return showJson(world, domain);
  // Alone on its line, so that a shell can hand it to `peer pin`.
  world.out(`${domain.fingerprint}\n`);
}

async function pin(world: World, body: { domain: string; fingerprint: string }, options: CommonOptions): Promise<void> {
  await askForPeer(world, options, { method: 'POST', path: pathOf('admin', 'v1', 'peers'), body });
}

type AskForPeer = { readonly method?: 'POST'; readonly path: string; readonly body?: unknown };

async function askForPeer(world: World, options: CommonOptions, call: AskForPeer): Promise<void> {
  const client = await connect(world, options);
  const peer = await client.call(peerShape, call);
  if (options.json === true) return showJson(world, peer);
  world.out(showPeer(peer));
}

function listPeers(world: World, options: PageOptions): Promise<void> {
  return showList(world, options, {
    at: ['admin', 'v1', 'peers'],
    item: peerShape,
    columns: [
      { title: 'DOMAIN', value: (peer) => peer.domain },
      { title: 'TRUST', value: (peer) => peer.relationship },
      { title: 'QUEUED', value: (peer) => peer.delivery?.queued },
      { title: 'FAILURES', value: (peer) => peer.delivery?.failures },
      { title: 'HELD', value: (peer) => peer.held_reason },
      { title: 'FINGERPRINT', value: (peer) => peer.fingerprint },
    ],
  });
}

function showPeer(peer: Peer): string {
  return sheet([
    ['domain', peer.domain],
    ['trust', peer.relationship],
    ['fingerprint', peer.fingerprint],
    ['gateway', peer.gateway],
    ['key bundle', peer.bundle_sequence],
    ['bundle read at', peer.bundle_fetched_at],
    ['held', peer.held_reason],
    ['queued', peer.delivery?.queued],
    ['failures', peer.delivery?.failures],
    ['next attempt', peer.delivery?.next_attempt_at],
    ['last success', peer.delivery?.last_success_at],
    ['last error', peer.last_error],
  ]);
}
