// What a person sees when a domain starts: who it is, where it is, what to type next. Plain text, on standard output.
import type { Config } from './config.js';
import type { Ready } from './domain.js';

/** BR-78: shown before the first key is made, because the name can not be changed afterwards. */
export function foundingPage({ domain, dataDirectory, databaseUrl }: Config): string {
  const remove = databaseUrl === undefined ? dataDirectory : `${dataDirectory} and what is in the database now`;
  return page(`First start of ${domain}`, [
    'This name goes into every address, key and id of the domain and can not be changed later:',
    '',
    `  agents    agent://${domain}/agents/NAME`,
    `  people    human://${domain}/users/NAME`,
    `  services  service://${domain}/NAME`,
    '',
    `To choose another: stop, remove ${remove} and start again with HEARTH_DOMAIN=your.domain`,
  ]);
}

export function operatorPage({
  address,
  token,
  recoveryKey,
}: {
  address: string;
  token: string;
  recoveryKey?: string;
}): string {
  return page('Operator', [
    `${address} may do everything here. These are shown this once and kept nowhere; put them away now:`,
    '',
    `  token         ${token}`,
    ...(recoveryKey === undefined ? [] : [`  recovery key  ${recoveryKey}`]),
    '',
    '  export HEARTH_TOKEN=...   lets the hearth commands use the token',
  ]);
}

/** `command` is how the program that prints this was called, so that what it says to type works here. */
export function readyPage(config: Config, ready: Ready, command: string): string {
  const { urls } = ready;
  return page(`${config.domain} is running`, [
    `  fingerprint      ${ready.fingerprint}`,
    `  gateway          ${urls.gateway}   (what other domains are told to call)`,
    `  federation door  ${urls.federation}   (put it behind the gateway's TLS)`,
    `  private door     ${urls.api}   (people, producers and operators; every request needs a token)`,
    `  data             ${config.dataDirectory}`,
    `  database         ${ready.databaseWhere}`,
    `  private keys     encrypted under ${config.keyEncryptionKeyFile}`,
    ...warnings(config),
    '',
    'Next:',
    `  ${command} agent list${portHint(urls.api)}`,
    `  ${command} --help`,
    '',
    'Ctrl-C stops it; what was acknowledged is kept.',
  ]);
}

/** BR-83: what only a development set-up may have is said loudly. */
function warnings({ domain, resolve, apiHost }: Config): string[] {
  const lines = [];
  if (resolve.size > 0) {
    lines.push(
      '',
      '  !! DEVELOPMENT: these domains are dialled without DNS and without TLS. Never do this with real ones.',
    );
    for (const [name, origin] of resolve) lines.push(`  !!   ${name} -> ${origin}`);
  }
  if (/\.(test|example|invalid|localhost)$/.test(domain)) {
    lines.push('', `  !! ${domain} is a reserved name: no domain outside this machine can reach it.`);
  }
  if (!['127.0.0.1', '::1', 'localhost'].includes(apiHost)) {
    lines.push(
      '',
      `  !! The private door listens on ${apiHost}, beyond this machine, and speaks plain HTTP: put TLS before it.`,
    );
  }
  return lines;
}

function portHint(apiUrl: string): string {
  return apiUrl === 'http://127.0.0.1:7421' ? '' : ` --url ${apiUrl}`;
}

function page(title: string, lines: readonly string[]): string {
  return `\n${title}\n${'='.repeat(title.length)}\n${lines.join('\n')}\n`;
}
