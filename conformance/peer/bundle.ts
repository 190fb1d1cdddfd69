// The bundle and the discovery document of a played domain, right unless something is changed on purpose.

import { nowInSeconds } from '../wire/http-signature.js';
import { generalJws } from '../wire/jws.js';
import type { SigningKey } from '../wire/keys.js';
import { instantIn } from '../wire/time.js';

export interface BundleKey {
  readonly key: SigningKey;
  readonly nbf?: number;
  readonly exp?: number;
  /** Members that replace or join those of the key. */
  readonly change?: Readonly<Record<string, unknown>>;
}

export interface BundleDraft {
  readonly domain: string;
  readonly sequence: string;
  readonly first: SigningKey;
  readonly keys: readonly BundleKey[];
  /** Who signs; all of `keys` unless said otherwise. */
  readonly signers?: readonly SigningKey[];
  readonly change?: Readonly<Record<string, unknown>>;
}

const day = 86_400;

export function bundleKey({ key, nbf, exp, change = {} }: BundleKey): Record<string, unknown> {
  const now = nowInSeconds();
  return { ...key.jwk, kid: key.kid, nbf: nbf ?? now - day, exp: exp ?? now + 30 * day, ...change };
}

export function sealBundle({ domain, sequence, first, keys, signers, change = {} }: BundleDraft): string {
  const payload = {
    domain,
    sequence,
    issued_at: instantIn(-1),
    valid_until: instantIn(day),
    refresh_hint_s: 300,
    first_kid: first.kid,
    keys: keys.map(bundleKey),
    retired_keys: [],
    revoked: [],
    ...change,
  };
  return generalJws('bundle+jwt', payload, signers ?? keys.map(({ key }) => key));
}

export function discoveryOf(domain: string): Record<string, unknown> {
  const gateway = `https://${domain}`;
  return {
    schema_version: 'agent-federation/1',
    domain,
    gateway,
    bundle: `${gateway}/federation/v1/bundle`,
    directory: `${gateway}/federation/v1/directory`,
    request_signatures: ['rfc9421'],
    limits: {
      envelope_bytes: 65_536,
      transaction_envelopes: 50,
      transaction_bytes: 4_194_304,
      transactions_in_flight: 2,
      clock_skew_s: 300,
    },
    first_contact: 'quarantine',
    software: 'hearth-conformance',
    contact: '',
  };
}
