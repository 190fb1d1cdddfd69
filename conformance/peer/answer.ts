// How a played domain answers a transaction: each message accepted, with a receipt, unless changed on purpose.
import { digestOf } from '../wire/encoding.js';
import { mintId } from '../wire/ids.js';
import { listOf, parseJson, textOf } from '../wire/json.js';
import { compactJws } from '../wire/jws.js';
import type { SigningKey } from '../wire/keys.js';
import { instantIn } from '../wire/time.js';
import type { Answer, Received } from './listener.js';
import type { PlayedDomain } from './played-domain.js';

export interface AnswerFault {
  /** Members of each result instead of `accepted`. */
  readonly result?: Readonly<Record<string, unknown>>;
  /** The results that are sent beside the receipt. */
  readonly sent?: (results: unknown[]) => unknown[];
  readonly receipt?: Readonly<Record<string, unknown>>;
  readonly typ?: string;
  readonly key?: SigningKey;
}

export function transactionIdOf(request: Received): string {
  return request.path.split('/').at(-1) ?? '';
}

/** Message and recipient pairs of a transaction that came in. */
function pairsOf(request: Received): { messageId: string; recipient: string }[] {
  return listOf(parseJson(request.body.toString('utf8')), 'envelopes').flatMap((envelope) => {
    const header = parseJson(textOf(envelope, 'header'));
    return listOf(header, 'to').map((recipient) => ({
      messageId: textOf(header, 'message_id'),
      recipient: String(recipient),
    }));
  });
}

type Answering = Pick<PlayedDomain, 'name' | 'key' | 'incarnation'>;

export function answerTo(domain: Answering, request: Received, fault: AnswerFault = {}): Answer {
  const results = pairsOf(request).map(({ messageId, recipient }) => ({
    message_id: messageId,
    recipient,
    ...(fault.result ?? { result: 'accepted', receipt_id: mintId('rcpt', 'conformance') }),
  }));
  const id = transactionIdOf(request);
  const payload = {
    receipt_id: mintId('rcpt', 'conformance'),
    type: 'transaction-receipt',
    subject_ref: id,
    subject_digest: digestOf(request.body),
    issuer: domain.name,
    observed_at: instantIn(0),
    code: 'processed',
    detail: '',
    transaction_id: id,
    origin: textOf(parseJson(request.body.toString('utf8')), 'origin'),
    destination: domain.name,
    incarnation: domain.incarnation,
    results,
    ...fault.receipt,
  };
  const receipt = compactJws({ typ: fault.typ ?? 'receipt+jwt', payload, key: fault.key ?? domain.key });
  return { body: JSON.stringify({ results: fault.sent?.([...results]) ?? results, receipt }) };
}
