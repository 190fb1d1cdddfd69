// Envelopes whose form is wrong in one thing each.
import type { EnvelopeDraft } from '../peer/played-agent.js';
import type { PutTransaction } from '../peer/played-domain.js';
import type { Stage } from '../stage.js';
import { digestOf } from '../wire/encoding.js';
import { malleated } from '../wire/keys.js';
import { instantIn } from '../wire/time.js';

export interface Fault {
  readonly id: string;
  readonly what: string;
  readonly codes: readonly string[];
  readonly draft: Partial<EnvelopeDraft>;
  readonly put?: PutTransaction;
}

export function withoutBody({ header, signature }: Record<string, unknown>): object {
  return { header, signature };
}

export function formFaults(stage: Stage): Fault[] {
  return [...spellingFaults(), ...memberFaults(stage), ...signatureFaults(), ...bodyFaults(stage)];
}

function spellingFaults(): Fault[] {
  const malformed = ['envelope_malformed'];
  const change = (of: (wire: Record<string, unknown>) => unknown) => ({ change: of });
  return [
    {
      id: 'ENVELOPE-1',
      what: 'a member more is refused',
      codes: malformed,
      draft: change((wire) => ({ ...wire, more: '' })),
    },
    {
      id: 'ENVELOPE-1',
      what: 'a header that is an object is refused',
      codes: malformed,
      draft: change((wire) => ({ ...wire, header: {} })),
    },
    { id: 'ENVELOPE-1', what: 'an item that is no object is refused', codes: malformed, draft: change(() => 7) },
    {
      id: 'ENVELOPE-2',
      what: 'spaces in the header are refused',
      codes: ['envelope_not_canonical'],
      draft: { spelling: (text) => text.replace('":', '": ') },
    },
    {
      id: 'ENVELOPE-2',
      what: 'members in another order are refused',
      codes: ['envelope_not_canonical'],
      draft: { spelling: reversed },
    },
    {
      id: 'ENVELOPE-2',
      what: 'an escape that is not needed is refused',
      codes: ['envelope_not_canonical'],
      draft: { spelling: (text) => text.replace('agent:', '\\u0061gent:') },
    },
  ];
}

function memberFaults({ peer }: Stage): Fault[] {
  const malformed = ['envelope_malformed'];
  return [
    ...[
      'message_id',
      'sender',
      'sender_domain',
      'to',
      'conversation_id',
      'prev',
      'interaction_type',
      'issued_at',
      'expires_at',
      'body_digest',
      'content_type',
      'key_id',
    ].map((name) => ({
      id: 'ENVELOPE-3',
      what: `a header without ${name} is refused`,
      codes: malformed,
      draft: { header: { [name]: undefined } },
    })),
    {
      id: 'ENVELOPE-3',
      what: 'a header with an unknown member is refused',
      codes: malformed,
      draft: { header: { priority: 'high' } },
    },
    { id: 'ENVELOPE-3', what: 'a to that is text is refused', codes: malformed, draft: { header: { to: peer.name } } },
  ];
}

function signatureFaults(): Fault[] {
  const change = (of: (wire: Record<string, unknown>) => unknown) => ({ change: of });
  return [
    {
      id: 'ENVELOPE-4',
      what: "another's signature is refused",
      codes: ['signature_invalid'],
      draft: { sign: (signature) => Buffer.from(signature).reverse() },
    },
    {
      id: 'ENVELOPE-4',
      what: 'a signature without ed25519. is refused',
      codes: ['signature_invalid'],
      draft: change((wire) => ({ ...wire, signature: String(wire.signature).slice(8) })),
    },
    {
      id: 'ENCODING-10',
      what: 'a signature with padding is refused',
      codes: ['signature_invalid'],
      draft: change((wire) => ({ ...wire, signature: `${wire.signature}==` })),
    },
    {
      id: 'ENCODING-10',
      what: 'a signature with unused bits set is refused',
      codes: ['signature_invalid'],
      draft: change((wire) => ({ ...wire, signature: withUnusedBits(String(wire.signature)) })),
    },
    {
      id: 'KEYS-5',
      what: 'a signature with S + L is refused',
      codes: ['signature_invalid'],
      draft: { sign: malleated },
    },
  ];
}

function bodyFaults(stage: Stage): Fault[] {
  return [...sizeFaults(), ...digestFaults(stage)];
}

function sizeFaults(): Fault[] {
  const malformed = ['envelope_malformed'];
  return [
    {
      id: 'ENVELOPE-5',
      what: 'a body of 48 KiB and a byte is refused',
      codes: ['envelope_too_large'],
      draft: { body: 'x'.repeat(49_153), header: { content_type: 'text/plain' } },
    },
    {
      id: 'ENVELOPE-5',
      what: 'a header of more than 16 KiB is refused',
      codes: ['envelope_too_large'],
      draft: { header: { more: 'x'.repeat(16_384) } },
    },
    {
      id: 'ENVELOPE-6',
      what: 'a body beside a body_ref is refused',
      codes: malformed,
      draft: { header: { body_ref: 'object://x/y' } },
    },
    { id: 'ENVELOPE-6', what: 'an envelope with neither is refused', codes: malformed, draft: { change: withoutBody } },
  ];
}

function digestFaults({ peer }: Stage): Fault[] {
  const malformed = ['envelope_malformed'];
  const change = (of: (wire: Record<string, unknown>) => unknown) => ({ change: of });
  const other = digestOf('another body');
  return [
    {
      id: 'ENVELOPE-7',
      what: 'a body that was exchanged is refused',
      codes: ['body_digest_mismatch'],
      draft: change((wire) => ({ ...wire, body: '{"text":"other"}' })),
    },
    {
      id: 'ENVELOPE-7',
      what: 'a digest of another body is refused',
      codes: ['body_digest_mismatch'],
      draft: { header: { body_digest: other } },
    },
    {
      id: 'ENCODING-9',
      what: 'a digest in capital letters is refused',
      codes: malformed,
      draft: { header: { body_digest: other.toUpperCase().replace('SHA', 'sha') } },
    },
    {
      id: 'ENCODING-8',
      what: 'an instant with two digits of a second is refused',
      codes: malformed,
      draft: { header: { issued_at: instantIn(0).replace(/\dZ$/, 'Z') } },
    },
    {
      id: 'ENCODING-8',
      what: 'a date that the calendar has not is refused',
      codes: malformed,
      draft: { header: { issued_at: '2026-02-30T10:00:00.000Z' } },
    },
    {
      id: 'ENVELOPE-19',
      what: 'a hop_chain of 17 is refused',
      codes: malformed,
      draft: { header: { hop_chain: Array.from({ length: 17 }, () => peer.agent('one').principalId) } },
    },
  ];
}

function reversed(text: string): string {
  const entries = Object.entries(JSON.parse(text)).reverse();
  return JSON.stringify(Object.fromEntries(entries));
}

/** The last character stands for 4 bits of 6 (64 bytes); one of the other two is set. */
function withUnusedBits(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return signature.slice(0, -1) + (alphabet[alphabet.indexOf(signature.at(-1) ?? 'A') | 1] ?? 'B');
}
