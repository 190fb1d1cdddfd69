/**
 * Ids: a kind prefix, the home tag of who it belongs to, a time-ordered random part. `conv_` and `cmt_` ids also name the
 * domain that minted them. An id tells where its record lives, never whether somebody may see it.
 */

import { type Domain, parseDomain } from './address.js';
import { sha256, toUtf8 } from './encoding.js';
import { LIMITS } from './limits.js';

export const ID_KINDS = [
  'in',
  'msg',
  'ses',
  'run',
  'eff',
  'op',
  'sus',
  'sub',
  'sch',
  'cred',
  'cand',
  'prop',
  'txn',
  'rcpt',
  'placelease',
  'caplease',
  'int',
  'corr',
  'ctx',
  'eng',
  'att',
  'evt',
  'src',
  'aud',
  'inc',
  'host',
  'dlv',
  'act',
] as const;
export const DOMAIN_ID_KINDS = ['conv', 'cmt'] as const;

export type IdKind = (typeof ID_KINDS)[number];
export type DomainIdKind = (typeof DOMAIN_ID_KINDS)[number];

export type HomeTag = string & { readonly brand: 'HomeTag' };
export type PrincipalId = string & { readonly brand: 'PrincipalId' };
export type Id<Kind extends IdKind | DomainIdKind = IdKind | DomainIdKind> = `${Kind}_${string}` & {
  readonly idKind: Kind;
};
export type MessageId = Id<'msg'>;
export type ConversationId = Id<'conv'>;
export type CommitmentId = Id<'cmt'>;

export type ParsedId = {
  readonly kind: IdKind | DomainIdKind;
  readonly homeTag: HomeTag;
  readonly ulid: string;
  readonly domain?: Domain;
};

/** Where the time and the chance of a new id come from; both are injected. */
export type Mint = { readonly now: Date; readonly random: (bytes: number) => Uint8Array };
export type DomainMint = Mint & { readonly domain: Domain; readonly homeTag: HomeTag };

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const HOME_TAG_CHARS = 12;
const HOME_TAG = /^[a-z0-9]{1,32}$/;
const ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const PRINCIPAL_ID = /^prn_[A-Za-z0-9_-]{43}$/;

export function mintId<Kind extends IdKind>(kind: Kind, homeTag: HomeTag, mint: Mint): Id<Kind> {
  return `${kind}_${homeTag}_${ulid(mint)}` as Id<Kind>;
}

export function mintDomainId<Kind extends DomainIdKind>(kind: Kind, mint: DomainMint): Id<Kind> {
  return `${kind}_${mint.domain}_${mint.homeTag}_${ulid(mint)}` as Id<Kind>;
}

/** Reads an id of any kind; undefined when it is not one. Home tags of other domains are opaque, so their form is free. */
export function parseId(text: string): ParsedId | undefined {
  if (text.length > LIMITS.identifierBytes) return undefined;
  const parts = text.split('_');
  const kind = parts[0];
  const tail = parts.slice(-2);
  const [homeTag, ulidPart] = tail;
  if (kind === undefined || homeTag === undefined || ulidPart === undefined) return undefined;
  if (!isHomeTag(homeTag) || !ULID.test(ulidPart)) return undefined;
  if (isOneOf(ID_KINDS, kind)) return parts.length === 3 ? { kind, homeTag, ulid: ulidPart } : undefined;
  if (!isOneOf(DOMAIN_ID_KINDS, kind) || parts.length !== 4) return undefined;
  const domain = parseDomain(parts[1] ?? '');
  return domain === undefined ? undefined : { kind, homeTag, ulid: ulidPart, domain };
}

export function isId<Kind extends IdKind | DomainIdKind>(kind: Kind, text: string): text is Id<Kind> {
  return parseId(text)?.kind === kind;
}

/** The home that an id belongs to; undefined for text that is not an id. */
export function homeOf(id: string): HomeTag | undefined {
  return parseId(id)?.homeTag;
}

/** The domain that minted a conversation or commitment id; undefined for ids that name none. */
export function mintingDomainOf(id: string): Domain | undefined {
  return parseId(id)?.domain;
}

/** The home tag of a principal: 60 bits of the digest of its id, in lower-case base32. */
export function homeTagOf(principalId: PrincipalId): HomeTag {
  return encodeBits(sha256(toUtf8(principalId)), { chars: HOME_TAG_CHARS, alphabet: BASE32 }) as HomeTag;
}

export function isHomeTag(text: string): text is HomeTag {
  return HOME_TAG.test(text);
}

export function isPrincipalId(text: string): text is PrincipalId {
  return PRINCIPAL_ID.test(text);
}

function ulid({ now, random }: Mint): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(now.getTime()) << 16n);
  bytes.set(random(10), 6);
  // 26 characters hold 130 bits: two zero bits stand in front, as in the ULID text form.
  return encodeBits(bytes, { chars: 26, alphabet: CROCKFORD, lead: 2 });
}

type BitCode = { readonly chars: number; readonly alphabet: string; readonly lead?: number };

/** The first `chars` groups of five bits, with `lead` zero bits in front. */
function encodeBits(bytes: Uint8Array, { chars, alphabet, lead = 0 }: BitCode): string {
  let text = '';
  for (let index = 0; index < chars; index += 1) {
    let value = 0;
    for (let bit = 0; bit < 5; bit += 1) {
      const at = index * 5 + bit - lead;
      const byte = at < 0 ? 0 : (bytes[at >> 3] ?? 0);
      value = (value << 1) | ((byte >> (7 - (at & 7))) & 1);
    }
    text += alphabet[value];
  }
  return text;
}

function isOneOf<Kind extends string>(kinds: readonly Kind[], text: string): text is Kind {
  return kinds.some((kind) => kind === text);
}
