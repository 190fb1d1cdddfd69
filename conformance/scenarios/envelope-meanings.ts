// Envelopes that are well formed and say something wrong: parties, times, keys and names.
import { certificateOf, type EnvelopeDraft } from '../peer/played-agent.js';
import type { PutTransaction } from '../peer/played-domain.js';
import type { Stage } from '../stage.js';
import { mintId } from '../wire/ids.js';
import { instantIn } from '../wire/time.js';
import type { Fault } from './envelope-forms.js';

export function meaningFaults(stage: Stage): Fault[] {
  return [...partyFaults(stage), ...keyFaults(stage)];
}

function partyFaults({ peer, quiet }: Stage): Fault[] {
  const one = peer.agent('one');
  const elsewhere = { ...one, domain: 'elsewhere.test', address: 'agent://elsewhere.test/agents/one' };
  return [
    {
      id: 'ENVELOPE-9',
      what: 'a sender of another domain is refused',
      codes: ['sender_mismatch', 'certificate_missing'],
      draft: { from: elsewhere },
    },
    {
      id: 'ENVELOPE-9',
      what: 'a sender_domain that is another is refused',
      codes: ['sender_mismatch'],
      draft: { header: { sender_domain: 'elsewhere.test' } },
    },
    { id: 'ENVELOPE-10', what: 'no recipient is refused', codes: ['envelope_malformed'], draft: { to: [] } },
    {
      id: 'ENVELOPE-10',
      what: '51 recipients are refused',
      codes: ['envelope_malformed'],
      draft: { to: Array.from({ length: 51 }, (_, index) => `${quiet}-${index}`) },
    },
    {
      id: 'ENVELOPE-10',
      what: 'a recipient named twice is refused',
      codes: ['envelope_malformed'],
      draft: { to: [quiet, quiet] },
    },
    {
      id: 'ENVELOPE-11',
      what: 'a recipient of another domain is refused',
      codes: ['wrong_destination'],
      draft: { to: [quiet, one.address] },
    },
    {
      id: 'ENVELOPE-12',
      what: 'an issued_at 310 s ahead is refused',
      codes: ['issued_in_future'],
      draft: { header: { issued_at: instantIn(320) } },
    },
  ];
}

function keyFaults({ peer }: Stage): Fault[] {
  const [one, two] = [peer.agent('one'), peer.agent('two')];
  const certificates = (...tokens: string[]): PutTransaction => ({ certificates: tokens });
  const now = Math.floor(Date.now() / 1000);
  return [
    {
      id: 'ENVELOPE-13',
      what: 'an expired envelope is refused',
      codes: ['expired'],
      draft: { header: { issued_at: instantIn(-60), expires_at: instantIn(-1) } },
    },
    {
      id: 'ENVELOPE-14',
      what: 'a life of more than seven days is refused',
      codes: ['lifetime_too_long'],
      draft: { header: { issued_at: instantIn(-10), expires_at: instantIn(604_795) } },
    },
    {
      id: 'ENVELOPE-14',
      what: 'an expires_at before issued_at is refused',
      codes: [],
      draft: { header: { issued_at: instantIn(120), expires_at: instantIn(60) } },
    },
    {
      id: 'ENVELOPE-15',
      what: 'an envelope without a certificate is refused',
      codes: ['certificate_missing'],
      draft: {},
      put: certificates(),
    },
    {
      id: 'ENVELOPE-15',
      what: "another agent's certificate does not help",
      codes: ['certificate_missing'],
      draft: {},
      put: certificates(certificateOf(two, peer.key)),
    },
    {
      id: 'ENVELOPE-16',
      what: "a key_id of another agent with that agent's certificate is refused",
      codes: ['certificate_invalid', 'key_invalid'],
      draft: { header: { key_id: two.keyRef } },
    },
    {
      id: 'ENVELOPE-16',
      what: 'an issued_at before the key is refused',
      codes: ['key_invalid'],
      draft: { header: { issued_at: instantIn(-120) } },
      put: certificates(certificateOf(one, peer.key, { claims: { key_nbf: now - 60 } })),
    },
    {
      id: 'ENVELOPE-16',
      what: 'an issued_at at the end of the key is refused',
      codes: ['key_invalid'],
      draft: {},
      put: certificates(certificateOf(one, peer.key, { claims: { key_exp: now - 60 } })),
    },
  ];
}

export function nameFaults(stage: Stage): Fault[] {
  return [...addressFaults(stage), ...idFaults(stage)];
}

function addressFaults({ quiet, target }: Stage): Fault[] {
  const codes = ['envelope_malformed'];
  const to = (address: string): Partial<EnvelopeDraft> => ({ to: [address] });
  return [
    {
      id: 'NAMES-1',
      what: 'a recipient with a port in its domain is refused',
      codes,
      draft: to(quiet.replace(target.domain, `${target.domain}:443`)),
    },
    {
      id: 'NAMES-1',
      what: 'a trailing dot is refused',
      codes,
      draft: to(quiet.replace(target.domain, `${target.domain}.`)),
    },
    {
      id: 'NAMES-3',
      what: 'a recipient in capital letters is refused, not normalised',
      codes,
      draft: to(quiet.replace('quiet', 'Quiet')),
    },
    {
      id: 'NAMES-3',
      what: 'a domain in capital letters is refused, not normalised',
      codes,
      draft: to(quiet.replace(target.domain, target.domain.toUpperCase())),
    },
    { id: 'NAMES-5', what: 'percent-encoding is refused', codes, draft: to(quiet.replace('-quiet', '%2Dquiet')) },
    { id: 'NAMES-5', what: 'a query is refused', codes, draft: to(`${quiet}?x=1`) },
    { id: 'NAMES-5', what: 'another scheme is refused', codes, draft: to(quiet.replace('agent:', 'robot:')) },
    {
      id: 'NAMES-6',
      what: 'a name of 65 bytes is refused',
      codes,
      draft: to(`agent://${target.domain}/agents/${'a'.repeat(65)}`),
    },
    { id: 'NAMES-6', what: 'a name that ends in a dot is refused', codes, draft: to(`${quiet}.`) },
  ];
}

function idFaults({ peer }: Stage): Fault[] {
  const codes = ['envelope_malformed'];
  const one = peer.agent('one');
  return [
    {
      id: 'NAMES-8',
      what: 'a key reference with a leading zero is refused',
      codes,
      draft: { header: { key_id: one.keyRef.replace(/1$/, '01') } },
    },
    {
      id: 'NAMES-8',
      what: 'a key reference with serial 0 is refused',
      codes,
      draft: { header: { key_id: one.keyRef.replace(/1$/, '0') } },
    },
    {
      id: 'NAMES-12',
      what: 'a message id in capital letters is refused',
      codes,
      draft: { header: { message_id: mintId('msg', one.tag).toUpperCase() } },
    },
    {
      id: 'NAMES-12',
      what: 'a message id with a long home tag is refused',
      codes,
      draft: { header: { message_id: mintId('msg', 'a'.repeat(33)) } },
    },
    {
      id: 'NAMES-12',
      what: 'a conversation id without its domain is refused',
      codes,
      draft: { header: { conversation_id: mintId('conv', one.tag) } },
    },
  ];
}
