// The set-up that the whole suite needs, in commands of `hearth`: two agents, one peer pinned.
import { playedNames } from './stage.js';

/** Accepts every request and reports at once. */
export const answererScript = {
  rules: [
    {
      when: { type: 'interaction.request' },
      steps: [
        step('promise', 'interaction.accept', { accepts: 'proposal' }),
        step('tell', 'interaction.report', { summary: 'done', evidence: [{ name: 'note', content: 'as asked' }] }),
        { complete: 'reported' },
      ],
    },
  ],
};

function step(id: string, action: string, input: object): object {
  const commitment_id = { $ref: '/activation/commitment_id' };
  return { propose: { id, action, target: { $ref: '/activation/sender' }, input: { commitment_id, ...input } } };
}

export interface SetUp {
  readonly originDomain: string;
  readonly fingerprint: string;
  readonly listen: { readonly host: string; readonly port: number };
}

function domainsPlayed(originDomain: string): string[] {
  return [originDomain, ...playedNames.map((name) => `${name}.${originDomain}`)];
}

export function resolveSetting({ originDomain, listen }: Pick<SetUp, 'originDomain' | 'listen'>): string {
  return domainsPlayed(originDomain)
    .map((domain) => `${domain}=http://${listen.host}:${listen.port}`)
    .join(',');
}

export function setupText(setUp: SetUp): string {
  return `# the target reaches the played domains here
export HEARTH_RESOLVE=${resolveSetting(setUp)}
hearth start --domain alpha.test &

# with the operator's token in HEARTH_TOKEN
hearth agent create conformance-quiet --runtime-config - <<'JSON'
{ "rules": [] }
JSON
hearth agent create conformance-answerer --grant 'interaction.*=agent://${setUp.originDomain}/*' --runtime-config - <<'JSON'
${JSON.stringify(answererScript)}
JSON
hearth peer pin ${setUp.originDomain} ${setUp.fingerprint}
`;
}
