// GET {gateway}/federation/v1/commitments/{id}/transitions?after=: a participant's domain reads our log of a commitment (D15).
import { fromUtf8, Problem } from '../../protocol/index.js';
import { readLogFor, type StoredTransition } from '../commitment/index.js';
import type { Gateway } from '../parts.js';
import { type DoorRequest, type ProvedRequest, proveOrigin } from './prove-origin.js';
import { rememberNonce } from './store.js';

export interface TransitionLog {
  commitment_id: string;
  /** Each the envelope that carried it, with the certificate that makes it provable alone. */
  transitions: { position: number; header: string; signature: string; body: string; certificate: string }[];
  next: number;
}

const transitionsAtOnce = 50;

export async function readTransitionLog(
  gateway: Gateway,
  request: DoorRequest,
  { commitmentId, after }: { commitmentId: string; after: number },
): Promise<TransitionLog> {
  const { peer } = await proveReader(gateway, request);
  const log =
    peer.relationship === 'pinned'
      ? await readLogFor(gateway.db.sql, { commitmentId, domain: peer.domain, after, limit: transitionsAtOnce })
      : undefined;
  if (!log) throw new Problem('not_found', 'there is no such commitment for this domain');
  return { commitment_id: commitmentId, transitions: log.map(toWire), next: log.at(-1)?.position ?? after };
}

/** A signed GET of a peer: origin proved, nonce used up. */
export async function proveReader(gateway: Gateway, request: DoorRequest): Promise<ProvedRequest> {
  const proved = await proveOrigin(gateway, request);
  const { nonce } = proved.request;
  const fresh = await gateway.db.transact('gateway.nonce', (tx) =>
    rememberNonce(tx, { peer: proved.peer.domain, nonce }),
  );
  if (!fresh) throw new Problem('replayed', 'this signed request was seen before');
  return proved;
}

function toWire({
  position,
  header,
  signature,
  body,
  certificate,
}: StoredTransition): TransitionLog['transitions'][number] {
  return { position, header: fromUtf8(header) ?? '', signature, body: fromUtf8(body) ?? '', certificate };
}
