// Domains, addresses, key references, ids and scalars: what each grammar takes and what it refuses.
import { homeTagOf, type PrincipalId, parseAddress, parseId, parseKeyRef } from '../../../src/protocol/index.js';
import { ASKER, COMMITMENT, CONVERSATION, KEYS, messageId, WORKER } from '../world.js';
import { invalid, type Vector, type VectorFile, valid } from './vector-file.js';

const long = (label: string, count: number) => Array.from({ length: count }, () => label).join('.');
const LABEL_63 = 'a'.repeat(63);

const domains = {
  good: [
    'alpha.test',
    'a.b',
    'xn--bcher-kva.example',
    'a-b.c-d',
    '1a.2b',
    '127.example',
    `${long(LABEL_63, 3)}.${'a'.repeat(38)}`,
  ],
  bad: [
    '',
    'localhost',
    'Alpha.test',
    'alpha.test.',
    '.alpha.test',
    'alpha..test',
    'alpha.test:443',
    'user@alpha.test',
    '-a.test',
    'a-.test',
    'a_b.test',
    'bücher.example',
    'xn--.example',
    'xn--bcher-KVA.example',
    'ab--c.example',
    '10.0.0.1',
    '[::1]',
    'alpha.test/',
    'alpha test',
    `${'a'.repeat(64)}.test`,
    `${long(LABEL_63, 3)}.${'a'.repeat(39)}`,
  ],
};

const addresses = {
  good: [
    'agent://alpha.test/agents/asker',
    'human://alpha.test/users/a',
    'service://alpha.test/github.ci',
    `agent://alpha.test/agents/${'n'.repeat(64)}`,
    'agent://alpha.test/agents/a_b-c.d',
  ],
  bad: [
    'agent://alpha.test/users/asker',
    'agent://alpha.test/asker',
    'service://alpha.test/services/a',
    'agent://alpha.test/agents/Asker',
    'agent://alpha.test/agents/as%6Ber',
    'agent://alpha.test/agents/asker?x=1',
    'agent://alpha.test/agents/asker#a',
    'agent://alpha.test/agents/asker/',
    'agent://alpha.test/agents/',
    'agent://alpha.test/agents/-a',
    'agent://alpha.test/agents/a-',
    'agent://alpha.test:1/agents/a',
    'AGENT://alpha.test/agents/a',
    'agent://alpha/agents/a',
    ' agent://alpha.test/agents/a',
    `agent://alpha.test/agents/${'n'.repeat(65)}`,
    `agent://${long(LABEL_63, 3)}.${'a'.repeat(30)}/agents/${'n'.repeat(30)}`,
  ],
};

const keyRefs = {
  good: [
    'key://alpha.test/agents/asker/1',
    'key://alpha.test/users/judge/999999999',
    'key://alpha.test/services/ci/12',
    `key://alpha.test/domain/${KEYS.alpha.kid}`,
  ],
  bad: [
    'key://alpha.test/agents/asker/0',
    'key://alpha.test/agents/asker/01',
    'key://alpha.test/agents/asker/1000000000',
    'key://alpha.test/agents/asker',
    'key://alpha.test/service/ci/1',
    'key://alpha.test/domain/1',
    'key://Alpha.test/agents/asker/1',
    'https://alpha.test/agents/asker/1',
  ],
};

const ids = {
  good: [messageId('names'), CONVERSATION, COMMITMENT, 'msg_a_00000000000000000000000000'],
  bad: [
    'msg_abc',
    'MSG_abc_00000000000000000000000000',
    'nope_abc_00000000000000000000000000',
    'msg_abc_0000000000000000000000000',
    'msg_abc_80000000000000000000000000',
    'msg_abc_0000000000000000000000000i',
    'msg_ABC_00000000000000000000000000',
    `msg_${'a'.repeat(33)}_00000000000000000000000000`,
    'msg_alpha.test_abc_00000000000000000000000000',
    'conv_abc_00000000000000000000000000',
    'conv_alpha_abc_00000000000000000000000000',
  ],
};

const scalars: Record<string, { good: string[]; bad: string[] }> = {
  principal_id: {
    good: [ASKER.principalId, WORKER.principalId],
    bad: ['prn_abc', `prn_${'a'.repeat(44)}`, `PRN_${'a'.repeat(43)}`],
  },
  instant: {
    good: ['2026-08-17T09:30:00.000Z', '2024-02-29T23:59:59.999Z', '0001-01-01T00:00:00.000Z'],
    bad: [
      '2026-08-17T09:30:00Z',
      '2026-08-17T09:30:00.0000Z',
      '2026-08-17T09:30:00.000+00:00',
      '2026-08-17 09:30:00.000Z',
      '2026-02-30T00:00:00.000Z',
      '2025-02-29T00:00:00.000Z',
      '2026-08-17T24:00:00.000Z',
      '2026-08-17T09:30:60.000Z',
      '2026-13-01T00:00:00.000Z',
      '2026-08-17t09:30:00.000z',
    ],
  },
  digest: {
    good: [`sha256:${'0'.repeat(64)}`, `sha256:${'0a'.repeat(32)}`],
    bad: [`sha256:${'0A'.repeat(32)}`, `sha256:${'0'.repeat(63)}`, `sha512:${'0'.repeat(64)}`, '0'.repeat(64)],
  },
  base64url: { good: ['', 'AA', 'AAE', 'AAEC', '-_-_'], bad: ['A', 'AA==', 'AB', 'AAF', 'A+/A', 'AA A'] },
};

export function nameVectors(): VectorFile {
  return {
    about: 'Text and the grammar it is read with. `expect` holds the parts that a reader finds.',
    vectors: [
      ...both('domain', domains, () => undefined),
      ...both('address', addresses, (text) => {
        const parsed = parseAddress(text);
        return parsed && { kind: parsed.kind, domain: parsed.domain, name: parsed.name };
      }),
      ...both('key_ref', keyRefs, (text) => {
        const parsed = parseKeyRef(text);
        if (parsed?.owner === 'domain') return { owner: 'domain', domain: parsed.domain, kid: parsed.kid };
        return parsed && { owner: parsed.owner, domain: parsed.domain, address: parsed.address, serial: parsed.serial };
      }),
      ...both('id', ids, (text) => {
        const parsed = parseId(text);
        return (
          parsed && { kind: parsed.kind, home_tag: parsed.homeTag, ...(parsed.domain && { domain: parsed.domain }) }
        );
      }),
      ...Object.entries(scalars).flatMap(([grammar, texts]) =>
        both(grammar, texts, (text) =>
          grammar === 'principal_id' ? { home_tag: homeTagOf(text as PrincipalId) } : undefined,
        ),
      ),
    ],
  };
}

function both(
  grammar: string,
  texts: { good: string[]; bad: string[] },
  partsOf: (text: string) => object | undefined,
): Vector[] {
  return [
    ...texts.good.map((text, index) => {
      const expect = partsOf(text);
      return valid(`${grammar} ${index + 1}`, { grammar, text, ...(expect && { expect }) });
    }),
    ...texts.bad.map((text, index) => invalid(`not a ${grammar} ${index + 1}`, `not_${grammar}`, { grammar, text })),
  ];
}
