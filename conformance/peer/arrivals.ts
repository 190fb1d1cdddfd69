// What the target has sent to a played domain: transactions, taken apart but not yet judged, and their envelopes.
import { digestOf } from '../wire/encoding.js';
import { type ReceivedSignature, readSignature } from '../wire/http-signature.js';
import { listOf, parseJson, textOf } from '../wire/json.js';
import { eventually } from '../wire/time.js';
import { transactionIdOf } from './answer.js';
import type { Received } from './listener.js';
import type { PlayedDomain } from './played-domain.js';
import type { Target } from './target.js';

export interface ArrivedTransaction {
  readonly request: Received;
  readonly id: string;
  readonly frame: unknown;
  readonly signature: ReceivedSignature;
  readonly envelopes: readonly ArrivedEnvelope[];
}

export interface ArrivedEnvelope {
  readonly wire: unknown;
  readonly header: unknown;
  readonly headerText: string;
  readonly headerDigest: string;
  readonly messageId: string;
  readonly type: string;
  readonly body: string;
  readonly bodyDigest: string;
  readonly content: unknown;
}

export function transactionsAt(domain: PlayedDomain, target: Target): ArrivedTransaction[] {
  return domain.received
    .filter(({ method, path }) => method === 'PUT' && path.startsWith('/federation/v1/transactions/'))
    .map((request) => {
      const frame = parseJson(request.body.toString('utf8'));
      return {
        request,
        id: transactionIdOf(request),
        frame,
        signature: readSignature({
          method: request.method,
          targetUri: `https://${domain.name}${request.path}`,
          fields: request.fields,
          body: request.body,
          keys: target.keys,
        }),
        envelopes: listOf(frame, 'envelopes').map(envelopeOf),
      };
    });
}

function envelopeOf(wire: unknown): ArrivedEnvelope {
  const headerText = textOf(wire, 'header');
  const header = parseJson(headerText);
  const body = textOf(wire, 'body');
  return {
    wire,
    header,
    headerText,
    headerDigest: digestOf(headerText),
    messageId: textOf(header, 'message_id'),
    type: textOf(header, 'interaction_type'),
    body,
    bodyDigest: digestOf(body),
    content: parseJson(body),
  };
}

/** Every attempt at the message, in order. */
export function attemptsAt(domain: PlayedDomain, target: Target, messageId: string): ArrivedTransaction[] {
  return transactionsAt(domain, target).filter(({ envelopes }) =>
    envelopes.some((envelope) => envelope.messageId === messageId),
  );
}

/** The first envelope of which something holds, waited for. */
export function arrival(
  domain: PlayedDomain,
  target: Target,
  wanted: (envelope: ArrivedEnvelope) => boolean,
): Promise<ArrivedEnvelope | undefined> {
  return eventually(
    () =>
      transactionsAt(domain, target)
        .flatMap(({ envelopes }) => envelopes)
        .find(wanted),
    arrivalMs,
  );
}

const arrivalMs = 10_000;
