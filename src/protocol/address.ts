/**
 * Domains, addresses and key references. One spelling each: what differs by a byte is another name, and anything
 * outside the grammar is refused, never normalised.
 */

import { domainToASCII, domainToUnicode } from 'node:url';
import { LRUCache } from 'lru-cache';
import { LIMITS } from './limits.js';

export type Domain = string & { readonly brand: 'Domain' };
export type Address = string & { readonly brand: 'Address' };
export type KeyRef = string & { readonly brand: 'KeyRef' };

export type PrincipalKind = 'agent' | 'human' | 'service';
export type ParsedAddress = {
  readonly kind: PrincipalKind;
  readonly domain: Domain;
  readonly name: string;
  readonly address: Address;
};
export type ParsedKeyRef =
  | { readonly owner: 'domain'; readonly domain: Domain; readonly kid: string; readonly keyRef: KeyRef }
  | {
      readonly owner: PrincipalKind;
      readonly domain: Domain;
      readonly address: Address;
      readonly serial: number;
      readonly keyRef: KeyRef;
    };

/** An envelope names its two domains a dozen times. */
const domains = new LRUCache<string, Domain>({ max: 10_000 });

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NAME = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/;
const ADDRESS = /^(?:(agent):\/\/([^/]+)\/agents|(human):\/\/([^/]+)\/users|(service):\/\/([^/]+))\/([^/]+)$/;
const KEY_REF = /^key:\/\/([^/]+)\/(agents|users|services)\/([^/]+)\/([1-9][0-9]{0,8})$/;
const DOMAIN_KEY_REF = /^key:\/\/([^/]+)\/domain\/([A-Za-z0-9_-]{43})$/;
const RESERVED = ['test', 'example', 'invalid', 'localhost'];
const FOLDERS = { agent: 'agents', human: 'users', service: 'services' } as const;

/** Reads a domain: lower-case A-labels, no port, no trailing dot, at least two labels; else undefined. */
export function parseDomain(text: string): Domain | undefined {
  return domains.get(text) ?? readDomain(text);
}

function readDomain(text: string): Domain | undefined {
  if (text.length > LIMITS.domainBytes) return undefined;
  const labels = text.split('.');
  if (labels.length < 2 || !labels.every(isLabel)) return undefined;
  // An all-digit last label is how an IPv4 address would read as a name.
  if (/^[0-9]+$/.test(labels.at(-1) ?? '')) return undefined;
  const domain = text as Domain;
  domains.set(text, domain);
  return domain;
}

/** True for names that public DNS never gives out: only these may be dialled through a resolve map. */
export function isReservedDomain(domain: Domain): boolean {
  return RESERVED.includes(domain.slice(domain.lastIndexOf('.') + 1));
}

export function isPrincipalName(text: string): boolean {
  return NAME.test(text);
}

/** Reads an address; undefined when any byte is outside the grammar. */
export function parseAddress(text: string): ParsedAddress | undefined {
  if (text.length > LIMITS.addressBytes) return undefined;
  const match = ADDRESS.exec(text);
  if (!match) return undefined;
  const kind = toKind(match[1] ?? match[3] ?? match[5]);
  const domain = parseDomain(match[2] ?? match[4] ?? match[6] ?? '');
  const name = match[7] ?? '';
  if (kind === undefined || domain === undefined || !NAME.test(name)) return undefined;
  return { kind, domain, name, address: text as Address };
}

export function isAddress(text: string): text is Address {
  return parseAddress(text) !== undefined;
}

type AddressParts = { readonly kind: PrincipalKind; readonly domain: Domain; readonly name: string };

/** Writes an address; throws RangeError when the parts make none. */
export function formatAddress({ kind, domain, name }: AddressParts): Address {
  const text = kind === 'service' ? `service://${domain}/${name}` : `${kind}://${domain}/${FOLDERS[kind]}/${name}`;
  if (!isAddress(text)) throw new RangeError(`not an address: ${text}`);
  return text;
}

/** `key://D/agents/N/7` and the like: the nth key of a principal. */
export function principalKeyRef(address: Address, serial: number): KeyRef {
  const parsed = parseAddress(address);
  if (!parsed || !Number.isSafeInteger(serial) || serial < 1 || serial > 999_999_999) {
    throw new RangeError(`no key reference for ${address} ${serial}`);
  }
  return `key://${parsed.domain}/${FOLDERS[parsed.kind]}/${parsed.name}/${serial}` as KeyRef;
}

/** `key://D/domain/{kid}`, where kid is the RFC 7638 thumbprint. */
export function domainKeyRef(domain: Domain, kid: string): KeyRef {
  const text = `key://${domain}/domain/${kid}`;
  if (!DOMAIN_KEY_REF.test(text)) throw new RangeError(`no key reference for ${domain} ${kid}`);
  return text as KeyRef;
}

/** Reads a key reference of a domain or a principal; undefined when it is neither. */
export function parseKeyRef(text: string): ParsedKeyRef | undefined {
  if (text.length > LIMITS.identifierBytes) return undefined;
  const ofDomain = DOMAIN_KEY_REF.exec(text);
  if (ofDomain) {
    const domain = parseDomain(ofDomain[1] ?? '');
    return domain && { owner: 'domain', domain, kid: ofDomain[2] ?? '', keyRef: text as KeyRef };
  }
  const match = KEY_REF.exec(text);
  const domain = match && parseDomain(match[1] ?? '');
  if (!match || !domain || !NAME.test(match[3] ?? '')) return undefined;
  const owner = match[2] === 'agents' ? 'agent' : match[2] === 'users' ? 'human' : 'service';
  const folder = owner === 'service' ? '' : `/${FOLDERS[owner]}`;
  const address = parseAddress(`${owner}://${domain}${folder}/${match[3]}`)?.address;
  return address && { owner, domain, address, serial: Number(match[4]), keyRef: text as KeyRef };
}

function isLabel(label: string): boolean {
  if (!LABEL.test(label)) return false;
  if (label.slice(2, 4) !== '--') return true;
  // Reserved LDH labels: only A-labels that survive the round trip through Unicode are names.
  return (
    label.startsWith('xn--') && domainToASCII(domainToUnicode(label)) === label && domainToUnicode(label) !== label
  );
}

function toKind(text: string | undefined): PrincipalKind | undefined {
  return text === 'agent' || text === 'human' || text === 'service' ? text : undefined;
}
