// Verifies the envelopes of a transaction one by one (D5): certificate, sender, key, times, signature, digest, then the body's shape.
import { type Clock, nextTurn } from '../../platform/index.js';
import {
  type Domain,
  type DomainBundle,
  type Interaction,
  type KeyRef,
  type ParsedTransaction,
  parseInteraction,
  type RefusalCode,
  refuse,
  subjectKeyOf,
  type TransactionItem,
  type VerifiedAgentKey,
  type VerifiedEnvelope,
  verifyAgentKeyCertificate,
  verifyEnvelope,
} from '../../protocol/index.js';

/** An item whose origin, sender and content are proved. Whether its origin is welcome is decided next. */
export interface VerifiedItem {
  index: number;
  envelope: VerifiedEnvelope;
  /** The certificate that vouched for the sender's key, kept with what must stay provable. */
  certificate: string;
  /** What the body says, or why it says nothing that is understood here. */
  interaction: { ok: true; interaction: Interaction } | { ok: false; reason: RefusalCode };
}

export interface RefusedItem {
  index: number;
  messageId: string;
  recipients: readonly string[];
  reason: RefusalCode;
}

export type DecidedItem = { verified: VerifiedItem } | { refused: RefusedItem };

export interface VerifyItems {
  bundle: DomainBundle;
  destination: Domain;
  clock: Clock;
}

/** Some two milliseconds of work. */
const verifiedAtOnce = 8;

export async function verifyItems(transaction: ParsedTransaction, options: VerifyItems): Promise<DecidedItem[]> {
  const certificates = await verifyCertificates(transaction.certificates, options);
  const decided: DecidedItem[] = [];
  for (const item of transaction.items) {
    decided.push(verifyItem(item, certificates, { ...options, origin: transaction.origin }));
    // Signatures are checked on this thread: others get their turn every few.
    if (decided.length % verifiedAtOnce === 0) await nextTurn();
  }
  return decided;
}

type Certified = { token: string; key: VerifiedAgentKey };
type Certificates = ReadonlyMap<KeyRef, Certified>;

/** Each certificate once, however many envelopes lean on it; a bad one is simply missing for them. */
async function verifyCertificates(tokens: readonly string[], { bundle, clock }: VerifyItems): Promise<Certificates> {
  const certificates = new Map<KeyRef, Certified>();
  for (const token of new Set(tokens)) {
    const keyRef = subjectKeyOf(token);
    if (keyRef === undefined || certificates.has(keyRef)) continue;
    const key = await verifyAgentKeyCertificate(token, { bundle, now: clock.now() });
    if (key.ok) certificates.set(keyRef, { token, key });
  }
  return certificates;
}

function verifyItem(
  item: TransactionItem,
  certificates: Certificates,
  { origin, destination, clock }: VerifyItems & { origin: Domain },
): DecidedItem {
  const { index } = item;
  if ('refused' in item) {
    const { messageId, recipients, reason } = item.refused;
    return { refused: { index, messageId, recipients, reason } };
  }
  const { header } = item.opened;
  const certified = certificates.get(header.key_id);
  const verified = certified
    ? verifyEnvelope(item.opened, { origin, destination, now: clock.now(), agentKey: certified.key })
    : refuse('certificate_missing', 'no valid certificate of the key came along');
  if (!certified || 'reason' in verified) {
    const reason = 'reason' in verified ? verified.reason : 'certificate_missing';
    return { refused: { index, messageId: header.message_id, recipients: header.to, reason } };
  }
  return {
    verified: {
      index,
      envelope: verified,
      certificate: certified.token,
      interaction: parseInteraction({ header, body: verified.body }),
    },
  };
}
