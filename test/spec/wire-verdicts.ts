// What our code says of requests, envelopes, transactions and logs.

import { transitionOfEntry } from '../../spec/tools/vectors/index.js';
import { refusedResults } from '../../src/federation/gateway/accept-items.js';
import { verifyItems } from '../../src/federation/gateway/verify-items.js';
import {
  type Address,
  admitPublicKey,
  type DomainBundle,
  decideTransition,
  digestOf,
  foldCommitment,
  openEnvelope,
  Problem,
  parseTransaction,
  signingBytes,
  subjectKeyOf,
  toUtf8,
  verifyAgentKeyCertificate,
  verifyEnvelope,
  verifyRequest,
  verifySignature,
} from '../../src/protocol/index.js';
import { AUTHORS, step, viewIn } from '../protocol/commitment-fixtures.js';
import { type Context, domain, type Read, text, type Verdict } from './vector-reading.js';

type Request = { method: string; target_uri: string; headers: [string, string][]; body: string };

export async function requestVerdict(vector: Read, { keys = {} }: Context): Promise<Verdict> {
  const request = vector.request as Request;
  try {
    const { origin, keyRef, nonce } = await verifyRequest({
      method: request.method,
      targetUri: request.target_uri,
      headers: request.headers,
      body: toUtf8(request.body),
      now: new Date(text(vector.now)),
      destination: domain(vector.destination),
      keyFor: async (keyRef) => (keys[keyRef] === undefined ? undefined : admitPublicKey(keys[keyRef])),
    });
    const { base } = vector.expect as { base: string };
    return { found: { origin, key_ref: keyRef, nonce, base } };
  } catch (error) {
    if (error instanceof Problem) return { reason: error.code, component: error.extra?.component };
    throw error;
  }
}

export async function envelopeVerdict(vector: Read, { bundle, certificates = {} }: Context): Promise<Verdict> {
  const opened = openEnvelope(vector.envelope);
  if (!opened.ok) return { reason: opened.reason };
  const now = new Date(text(vector.now));
  const token = certificates[String(vector.certificate)];
  const certified = token !== undefined && subjectKeyOf(token) === opened.header.key_id && bundle;
  const agentKey = certified ? await verifyAgentKeyCertificate(token, { bundle, now }) : undefined;
  if (!agentKey?.ok) return { reason: 'certificate_missing' };
  const read = verifyEnvelope(opened, {
    origin: domain(vector.origin),
    destination: domain(vector.destination),
    now,
    agentKey,
  });
  if ('reason' in read) return { reason: read.reason };
  const { message_id, body_digest } = read.header;
  return {
    found: { message_id, header_digest: read.headerDigest, body_digest, sender_principal_id: read.senderPrincipalId },
  };
}

export async function transactionVerdict(vector: Read, { bundle }: Context): Promise<Verdict> {
  const [origin, destination] = [domain(vector.origin), domain(vector.destination)];
  try {
    const transaction = parseTransaction(toUtf8(text(vector.body)));
    if (transaction.origin !== origin) return { reason: 'schema_invalid' };
    if (transaction.destination !== destination) return { reason: 'wrong_destination' };
    return {
      found: { items: await itemsOf(transaction, { bundle, destination, now: new Date(text(vector.now)) }) },
    };
  } catch (error) {
    if (error instanceof Problem) return { reason: error.code };
    throw error;
  }
}

type Items = { bundle: DomainBundle | undefined; destination: ReturnType<typeof domain>; now: Date };

async function itemsOf(
  transaction: ReturnType<typeof parseTransaction>,
  { bundle, destination, now }: Items,
): Promise<object[]> {
  if (!bundle) throw new TypeError('the context lacks a bundle');
  const clock = {
    now: () => now,
    monotonicMs: () => 0,
    sleep: async () => undefined,
    timer: () => ({ cancel: () => undefined }),
  };
  const decided = await verifyItems(transaction, { bundle, destination, clock });
  return decided.flatMap((item): object[] => {
    if ('refused' in item) return refusedResults(item.refused);
    const { message_id, to } = item.verified.envelope.header;
    return to.map((recipient) => ({ message_id, recipient, result: 'verified' }));
  });
}

type Entry = Parameters<typeof transitionOfEntry>[0];

export function transitionVerdict(vector: Read, { keys = {} }: Context): Verdict {
  const log = vector.log as Entry[];
  for (const { header, signature } of log) {
    const { key_id } = JSON.parse(header) as { key_id: string };
    const made = Buffer.from(signature.replace('ed25519.', ''), 'base64url');
    if (!verifySignature(admitPublicKey(keys[key_id]), signingBytes('envelope', toUtf8(header)), made))
      return { reason: 'signature_invalid' };
  }
  const { view, applied, refused } = foldCommitment(log.map(transitionOfEntry), new Date(text(vector.now)));
  const found = {
    state: view?.state ?? 'none',
    base_state: view?.baseState ?? 'none',
    ...(view && {
      creditor: view.creditor,
      debtor: view.debtor,
      deadline: view.deadline,
      heads: view.heads,
      late_reports: view.reports.filter(({ late }) => late).length,
    }),
    applied: applied.map(({ digest }) => digest),
    refused: refused.map(({ transition, refusal }) => ({ digest: transition.digest, reason: refusal.reason })),
  };
  const reason = refused.at(-1)?.refusal.reason;
  return { found, ...(reason === undefined ? {} : { reason }) };
}

/** One cell of the table, asked of the function that decides real transitions. */
export function tableVerdict(vector: Read): Verdict {
  const [state, kind, party] = [vector.state, vector.kind, vector.party] as [
    Parameters<typeof viewIn>[0],
    Parameters<typeof step>[0]['kind'],
    keyof typeof AUTHORS,
  ];
  const view = viewIn(state);
  const report = { messageId: 'none', digest: digestOf(toUtf8('none')) };
  const { messageId, digest } = view.reports.at(-1) ?? report;
  // In states without a report there is none to name: one is lent, so that the state is judged and not the name.
  const lent = {
    ...view,
    reports:
      view.reports.length > 0
        ? view.reports
        : [{ messageId, digest, issuedAt: '', late: false, summary: '', evidence: [] }],
  };
  const author: Address = AUTHORS[party];
  const at = state === 'overdue' ? 60_001 : 100;
  const transition = step({
    kind,
    by: party,
    at,
    previous: view.heads[author] ?? '',
    change: kind.endsWith('report') || kind === 'dispute' ? { reportMessageId: messageId, reportDigest: digest } : {},
  });
  const decided = decideTransition({ ...lent, state } as typeof view, transition);
  if (!decided.ok) return { reason: decided.reason };
  const { expect } = vector as { expect?: { to: string; needs: string } };
  const waits = expect?.needs === 'both' && decided.to === view.baseState;
  return { found: { to: waits ? expect?.to : decided.to, needs: expect?.needs } };
}
