// Whole logs of commitments, each transition the envelope that carried it, with the fold that is expected.
import {
  type Address,
  type CommitmentTransition,
  canonicalize,
  digestOf,
  foldCommitment,
  INTERACTION_MEDIA_TYPE,
  openEnvelope,
  parseInteraction,
  toUtf8,
  transitionOf,
  type WireEnvelope,
} from '../../../src/protocol/index.js';
import {
  ALPHA,
  ASKER,
  COMMITMENT,
  HOUR_MS,
  instant,
  JUDGE,
  later,
  letter,
  PROPOSAL,
  principal,
  WORKER,
  type WorldPrincipal,
} from '../world.js';
import { invalid, type Vector, type VectorFile, valid } from './vector-file.js';

/** An envelope with the principal that its sender's certificate named. */
export type LogEntry = WireEnvelope & { principal_id: string };

const MINUTE_MS = 60_000;
const STRANGER = principal('agent', ALPHA, 'stranger');
/** Whoever got the address of the debtor later: another principal, with another key. */
const SUCCESSOR: WorldPrincipal = { ...WORKER, principalId: STRANGER.principalId };

interface Step {
  label: string;
  from: WorldPrincipal;
  type: 'request' | 'accept' | 'reject' | 'report';
  at: number;
  body: object;
}

async function step({ label, from, type, at, body }: Step): Promise<LogEntry> {
  const to: Address[] = [from.address === WORKER.address ? ASKER.address : WORKER.address];
  const change = { issued_at: instant(at), expires_at: instant(at + HOUR_MS) };
  const wire = await letter({
    label,
    from,
    to,
    type,
    contentType: INTERACTION_MEDIA_TYPE,
    body: canonicalize(body),
    change,
  });
  return { ...wire, principal_id: from.principalId };
}

const headerDigest = (entry: LogEntry) => digestOf(toUtf8(entry.header));
const bodyDigest = (entry: LogEntry) => digestOf(toUtf8(entry.body ?? ''));
const messageIdOf = (entry: LogEntry) => (JSON.parse(entry.header) as { message_id: string }).message_id;

/** A promise with a deadline an hour from now, and the steps that may follow. */
async function promise() {
  const proposal = {
    proposal_id: PROPOSAL,
    version: 1,
    commitment_id: COMMITMENT,
    action: 'audit.release',
    subject: 'release://alpha.test/184',
    content: { level: 2, urgent: true },
    deadline: instant(HOUR_MS),
    resolver: JUDGE.address,
  };
  const request = await step({ label: 'request', from: ASKER, type: 'request', at: 0, body: { proposal } });
  const bound = { commitment_id: COMMITMENT, proposal_id: PROPOSAL, version: 1, proposal_digest: bodyDigest(request) };
  const accepting = (label: string, change: object = {}, from = WORKER, at = MINUTE_MS) =>
    step({ label, from, type: 'accept', at, body: { accepts: 'proposal', ...bound, previous: '', ...change } });
  const accept = await accepting('accept');
  const reporting = (label: string, at: number, previous: string) =>
    step({
      label,
      from: WORKER,
      type: 'report',
      at,
      body: {
        commitment_id: COMMITMENT,
        proposal_digest: bodyDigest(request),
        summary: 'Done.',
        evidence: [],
        previous,
      },
    });
  const report = await reporting('report', 30 * MINUTE_MS, headerDigest(accept));
  const agreeing = (label: string, change: object = {}) =>
    step({
      label,
      from: ASKER,
      type: 'accept',
      at: 40 * MINUTE_MS,
      body: {
        accepts: 'report',
        commitment_id: COMMITMENT,
        report_message_id: messageIdOf(report),
        report_digest: bodyDigest(report),
        previous: headerDigest(request),
        ...change,
      },
    });
  const reject = await step({
    label: 'reject',
    from: WORKER,
    type: 'reject',
    at: 2 * MINUTE_MS,
    body: { ...bound, reason: 'busy', previous: '' },
  });
  return { request, accept, report, reject, agree: await agreeing('agree'), accepting, reporting, agreeing };
}

export async function transitionVectors(): Promise<VectorFile> {
  const { request, accept, report, reject, agree, accepting, reporting, agreeing } = await promise();
  const late = await reporting('late report', 2 * HOUR_MS, headerDigest(accept));
  const log = (name: string, entries: LogEntry[], at = 50 * MINUTE_MS): Vector => vectorOf(name, entries, at);
  return {
    about:
      'Logs in the order of arrival, and what they fold to at `now`. Signatures are verified with the keys of the context. `reason` is why the last one has no effect.',
    context: {
      keys: { [ASKER.keyRef]: ASKER.key.jwk, [WORKER.keyRef]: WORKER.key.jwk, [STRANGER.keyRef]: STRANGER.key.jwk },
    },
    vectors: [
      log('fulfilled in time', [request, accept, report, agree]),
      log('proposed', [request]),
      log('active', [request, accept]),
      log('rejected', [request, reject]),
      log('reported', [request, accept, report]),
      log('at the deadline it is still active', [request, accept], HOUR_MS),
      log('overdue', [request, accept], HOUR_MS + 1),
      log('a late report', [request, accept, late], 3 * HOUR_MS),
      log('arrived in the wrong order', [agree, report, accept, request]),
      log('each arrived twice', [request, request, accept, report, accept, report]),
      log('two reports', [
        request,
        accept,
        report,
        await reporting('second report', 35 * MINUTE_MS, headerDigest(report)),
      ]),
      log('nothing asked', [accept]),
      log('accepted and then rejected', [request, accept, reject]),
      log('BR-63 accepted by a third party', [request, await accepting('third', {}, STRANGER)]),
      log('BR-63 another version', [request, await accepting('version', { version: 2 })]),
      log('BR-63 another digest', [request, await accepting('digest', { proposal_digest: bodyDigest(report) })]),
      log('accepted by the one who asked', [
        request,
        await accepting('self', { previous: headerDigest(request) }, ASKER),
      ]),
      log('a report before the promise', [request, report]),
      log('a report without its predecessor', [request, accept, await reporting('gap', 30 * MINUTE_MS, '')]),
      log('agreement to a report that nobody made', [
        request,
        accept,
        report,
        await agreeing('unmade', { report_digest: bodyDigest(request) }),
      ]),
      log('an address given to somebody else', [
        request,
        accept,
        await asSuccessor(reporting('successor', 30 * MINUTE_MS, headerDigest(accept))),
      ]),
      log('accepted a second time', [
        request,
        accept,
        await accepting('again', { previous: headerDigest(accept) }, WORKER, 3 * MINUTE_MS),
      ]),
    ],
  };
}

async function asSuccessor(made: Promise<LogEntry>): Promise<LogEntry> {
  return { ...(await made), principal_id: SUCCESSOR.principalId };
}

function vectorOf(name: string, log: LogEntry[], at: number): Vector {
  const { view, applied, refused } = foldCommitment(log.map(transitionOfEntry), later(at));
  const expect = {
    state: view?.state ?? 'none',
    base_state: view?.baseState ?? 'none',
    ...(view && {
      creditor: view.creditor,
      debtor: view.debtor,
      deadline: view.deadline,
      heads: view.heads,
      late_reports: view.reports.filter((report) => report.late).length,
    }),
    applied: applied.map(({ digest }) => digest),
    refused: refused.map(({ transition, refusal }) => ({ digest: transition.digest, reason: refusal.reason })),
  };
  const members = { now: instant(at), log, expect };
  const last = refused.at(-1);
  return last ? invalid(name, last.refusal.reason, members) : valid(name, members);
}

/** The transition that a log entry is. */
export function transitionOfEntry({ principal_id, ...wire }: LogEntry): CommitmentTransition {
  const opened = openEnvelope(wire);
  if (!opened.ok) throw new TypeError(opened.detail);
  const read = parseInteraction({ header: opened.header, body: opened.body ?? new Uint8Array() });
  if (!read.ok) throw new TypeError(read.detail);
  const source = { ...opened, senderPrincipalId: principal_id as CommitmentTransition['authorPrincipalId'] };
  const transition = transitionOf(source, read.interaction);
  if (!transition) throw new TypeError('no transition');
  return transition;
}
