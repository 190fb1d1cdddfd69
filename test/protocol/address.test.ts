import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  domainKeyRef,
  formatAddress,
  isReservedDomain,
  parseAddress,
  parseDomain,
  parseKeyRef,
  principalKeyRef,
} from '../../src/protocol/index.js';
import { ALPHA, ASKER, DOMAIN_KEY, domain } from './fixtures.js';

const SEED = { seed: 12, numRuns: 300 };
const label = fc.stringMatching(/^[a-z]([a-z0-9]{0,10}[a-z0-9])?$/);
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/);
const kind = fc.constantFrom('agent' as const, 'human' as const, 'service' as const);

describe('domains', () => {
  test.each(['a.b', 'alpha.test', 'a-b.example', 'xn--bcher-kva.example', '1.example', `${'a'.repeat(63)}.test`])(
    '%s is a domain',
    (text) => expect(parseDomain(text)).toBe(text),
  );

  test.each([
    '',
    'localhost',
    'A.test',
    'alpha.test.',
    '.test',
    'a..test',
    'alpha.test:443',
    'user@alpha.test',
    '-a.test',
    'a-.test',
    'a_b.test',
    'bücher.example',
    'xn--a.example',
    'ab--cd.example',
    '127.0.0.1',
    '10.1',
    '[::1]',
    'a b.test',
    'a%2e.test',
    `${'a'.repeat(64)}.test`,
    'alpha.test\n',
    'alpha.test/x',
  ])('%j is refused, never normalised', (text) => expect(parseDomain(text)).toBeUndefined());

  test('a domain of 230 bytes is accepted, one of 231 is not', () => {
    const at = `${'ab.'.repeat(75)}a.com`;
    expect(at).toHaveLength(230);
    expect(parseDomain(at)).toBe(at);
    expect(parseDomain(`a${at}`)).toBeUndefined();
  });

  test('only the reserved names may be dialled through a resolve map', () => {
    for (const text of ['a.test', 'a.example', 'a.invalid', 'a.localhost'])
      expect(isReservedDomain(domain(text))).toBe(true);
    for (const text of ['example.com', 'test.com', 'a.testing']) expect(isReservedDomain(domain(text))).toBe(false);
  });
});

describe('addresses', () => {
  test('what is formatted is parsed back into its parts', () => {
    fc.assert(
      fc.property(kind, label, name, (k, l, n) => {
        const address = formatAddress({ kind: k, domain: domain(`${l}.test`), name: n });
        expect(parseAddress(address)).toEqual({ kind: k, domain: `${l}.test`, name: n, address });
      }),
      SEED,
    );
  });

  test('one byte changed gives another address or none', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: ASKER.length - 1 }),
        fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
        (at, byte) => {
          const text = ASKER.slice(0, at) + byte + ASKER.slice(at + 1);
          const parsed = parseAddress(text);
          if (text !== ASKER && parsed) expect(parsed.address).not.toBe(ASKER);
        },
      ),
      SEED,
    );
  });

  test.each([
    'agent://alpha.test/users/x',
    'human://alpha.test/agents/x',
    'service://alpha.test/services/x',
    'agent://alpha.test/x',
    'agent://alpha.test/agents/',
    'agent://alpha.test/agents/X',
    'agent://alpha.test/agents/x/',
    'agent://alpha.test/agents/x?y',
    'agent://alpha.test/agents/x#y',
    'agent://alpha.test/agents/%78',
    'agent://alpha.test/agents/-x',
    'agent://alpha.test/agents/x.',
    'agent://alpha.test:1/agents/x',
    'agent://u@alpha.test/agents/x',
    'Agent://alpha.test/agents/x',
    'agent:/alpha.test/agents/x',
    'agent://alpha.test/agents/../x',
    ' agent://alpha.test/agents/x',
    'agent://alpha.test/agents/x\n',
    'robot://alpha.test/agents/x',
  ])('%j is refused', (text) => expect(parseAddress(text)).toBeUndefined());

  test('a name of 64 bytes is accepted, one of 65 is not', () => {
    expect(parseAddress(`service://alpha.test/${'a'.repeat(64)}`)).toBeDefined();
    expect(parseAddress(`service://alpha.test/${'a'.repeat(65)}`)).toBeUndefined();
  });

  test('an address of 255 bytes is accepted, one of 256 is not', () => {
    const host = `${'ab.'.repeat(60)}test`;
    const rest = 255 - `service://${host}/`.length;
    expect(parseAddress(`service://${host}/${'n'.repeat(rest)}`)).toBeDefined();
    expect(parseAddress(`service://${host}/${'n'.repeat(rest + 1)}`)).toBeUndefined();
  });
});

describe('key references', () => {
  test('the key of a principal names its owner', () => {
    fc.assert(
      fc.property(kind, name, fc.integer({ min: 1, max: 999_999_999 }), (k, n, serial) => {
        const address = formatAddress({ kind: k, domain: ALPHA, name: n });
        const keyRef = principalKeyRef(address, serial);
        expect(parseKeyRef(keyRef)).toEqual({ owner: k, domain: ALPHA, address, serial, keyRef });
      }),
      SEED,
    );
  });

  test('the key of a domain is named by its thumbprint', () => {
    const keyRef = domainKeyRef(ALPHA, DOMAIN_KEY.kid);
    expect(parseKeyRef(keyRef)).toEqual({ owner: 'domain', domain: ALPHA, kid: DOMAIN_KEY.kid, keyRef });
  });

  test.each([
    'key://alpha.test/agents/x',
    'key://alpha.test/agents/x/0',
    'key://alpha.test/agents/x/07',
    'key://alpha.test/agents/x/-1',
    'key://alpha.test/domain/3',
    'key://alpha.test/robots/x/1',
    'key://ALPHA.test/agents/x/1',
    'key://alpha.test/agents/x/1/2',
    'key://alpha.test/agents/x/1234567890',
  ])('%s is refused', (text) => expect(parseKeyRef(text)).toBeUndefined());
});
