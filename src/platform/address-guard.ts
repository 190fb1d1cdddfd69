// Which addresses an outbound request may reach: public unicast only, checked on the very address that is connected to (BR-85).
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export class AddressBlocked extends Error {
  override readonly name = 'AddressBlocked';
  readonly code = 'ADDRESS_BLOCKED';
}

export type LookupAll = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** True for an address on the public internet. Mapped and translated forms are judged by what they contain or refused. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  // The deprecated ::/96 (IPv4-compatible) counts as unicast in ipaddr.js, yet names IPv4 hosts.
  return !(address instanceof ipaddr.IPv6 && address.parts.slice(0, 6).every((part) => part === 0));
}

/** Sockets look names up themselves but not literals, so a literal is judged here before anything is opened. */
export function refuseBlockedLiteral(hostname: string): void {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (ipaddr.isValid(bare) && !isPublicAddress(bare)) throw blocked(hostname);
}

/** One look-up, every answer checked, and the socket gets the checked answers: a name that changes between has no effect. */
export function guardedLookup(lookup: LookupAll = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [], 0);
      const first = addresses[0];
      if (!first || !addresses.every(({ address }) => isPublicAddress(address)))
        return callback(blocked(hostname), [], 0);
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function blocked(hostname: string): AddressBlocked {
  return new AddressBlocked(`${hostname} is not an address on the public internet`);
}
