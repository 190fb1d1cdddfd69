// Discovery documents.
import { describeDomain } from '../../../src/protocol/index.js';
import { ALPHA } from '../world.js';
import { invalid, type VectorFile, valid } from './vector-file.js';

const document = describeDomain({
  domain: ALPHA,
  gateway: 'https://gateway.alpha.test',
  first_contact: 'quarantine',
  software: 'hearth/1',
  contact: 'mailto:ops@alpha.test',
});

export function discoveryVectors(): VectorFile {
  const of = (change: object, members: object = {}) => ({
    domain: ALPHA,
    document: { ...document, ...change },
    ...members,
  });
  const bad = (name: string, change: object, members: object = {}) =>
    invalid(name, 'discovery_invalid', of(change, members));
  const { gateway: _, ...without } = document;
  return {
    about: 'Discovery documents, as the value of the JSON that `domain` served.',
    vectors: [
      valid('a domain', of({})),
      valid('a path in the gateway', of({ gateway: 'https://alpha.test/fed' })),
      valid('members of a later version', of({ later: { a: 1 }, request_signatures: ['later', 'rfc9421'] })),
      valid('lower limits', of({ limits: { ...document.limits, transaction_envelopes: 1, clock_skew_s: 60 } })),
      bad('another domain', { domain: 'beta.test' }),
      bad('another version', { schema_version: 'agent-federation/2' }),
      bad('no rfc9421', { request_signatures: ['later'] }),
      bad('plain http', { gateway: 'http://alpha.test' }),
      bad('a trailing slash', { gateway: 'https://alpha.test/' }),
      bad('a query', { gateway: 'https://alpha.test/?a=1' }),
      bad('a fragment', { gateway: 'https://alpha.test/a#b' }),
      bad('credentials', { gateway: 'https://user:password@alpha.test' }),
      bad('a limit beyond the ceiling', { limits: { ...document.limits, transaction_envelopes: 51 } }),
      bad('a limit of nothing', { limits: { ...document.limits, envelope_bytes: 0 } }),
      bad('an unknown first contact', { first_contact: 'open' }),
      invalid('no gateway', 'discovery_invalid', { domain: ALPHA, document: without }),
    ],
  };
}
