// A message as a mailbox keeps it: bytes as received or sent, under the identity that makes a delivery unique (D5).
import { canonicalize, digestOf, type JsonValue, toUtf8 } from '../../protocol/index.js';

type Direction = 'in' | 'out';

/** The delivery identity, within one mailbox: the recipient is part of it (BR-20), and so is who sent it. */
export interface DeliveryIdentity {
  home: string;
  direction: Direction;
  originDomain: string;
  sender: string;
  messageId: string;
}

export interface NewMessage extends DeliveryIdentity {
  conversationId?: string | undefined;
  interactionType: string;
  contentType: string;
  /** The exact signed bytes of an envelope's header, or the canonical transport facts of another entry. */
  header: Uint8Array;
  headerDigest: string;
  body: Uint8Array;
  receiptId?: string | undefined;
  inputId?: string | undefined;
}

export interface MailboxMessage extends DeliveryIdentity {
  position: number;
  conversationId: string | null;
  interactionType: string;
  contentType: string;
  header: Uint8Array;
  headerDigest: string;
  body: Uint8Array;
  receiptId: string | null;
  inputId: string | null;
  storedAt: Date;
}

/** What an exact repeat is answered with; another header digest means that the message id was used again. */
export interface ExistingMessage {
  position: number;
  headerDigest: string;
  receiptId: string | null;
  inputId: string | null;
}

export interface TransportEntry {
  home: string;
  /** Our own domain: what comes through our own doors originates here. */
  domain: string;
  /** The authenticated principal, never a name from the body. */
  sender: string;
  sourceEventId: string;
  /** The input's type. */
  type: string;
  contentType: string;
  facts: { [member: string]: JsonValue };
  body: Uint8Array;
}

/** A mailbox entry that came without an envelope: a webhook or a posted input. */
export function messageOfTransport(entry: TransportEntry): NewMessage {
  const header = toUtf8(
    canonicalize({ ...entry.facts, sender: entry.sender, source_event_id: entry.sourceEventId, type: entry.type }),
  );
  return {
    home: entry.home,
    direction: 'in',
    originDomain: entry.domain,
    sender: entry.sender,
    messageId: entry.sourceEventId,
    interactionType: entry.type,
    contentType: entry.contentType,
    header,
    headerDigest: digestOf(header),
    body: entry.body,
  };
}
