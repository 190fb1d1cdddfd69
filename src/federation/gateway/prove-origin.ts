// Who a request between domains comes from: its one signature, made by a key that its origin vouches for now.
import { type Domain, Problem, parseKeyRef, type VerifiedRequest, verifyRequest } from '../../protocol/index.js';
import type { Gateway } from '../parts.js';
import { domainKeyOf, type KnownPeer, peerBundle } from '../peer/index.js';

/** A request as it stood at the door: nothing is proved. */
export interface DoorRequest {
  method: 'GET' | 'PUT';
  /** Path and query exactly as received; the advertised gateway is put before it, whatever host was dialled. */
  path: string;
  /** Name and value as received, repeats included. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
}

export interface ProvedRequest {
  request: VerifiedRequest;
  peer: KnownPeer;
}

/** Proves the origin or throws a Problem. The nonce is still to be remembered, in the transaction that acts on the request. */
export async function proveOrigin(gateway: Gateway, door: DoorRequest): Promise<ProvedRequest> {
  let peer: KnownPeer | undefined;
  const request = await verifyRequest({
    method: door.method,
    targetUri: `${gateway.gatewayUrl}${door.path}`,
    headers: door.headers,
    body: door.body,
    now: gateway.clock.now(),
    destination: gateway.domain.name,
    keyFor: async (keyRef, origin) => {
      peer = await knownOrigin(gateway, origin, keyRef);
      return domainKeyOf(peer, keyRef, gateway.clock.now());
    },
  });
  if (!peer) throw new Problem('unknown_origin', 'no key of the origin was asked for');
  return { request, peer };
}

async function knownOrigin(gateway: Gateway, origin: Domain, keyRef: string): Promise<KnownPeer> {
  const parsed = parseKeyRef(keyRef);
  const found = await peerBundle(gateway.peers, origin, parsed?.owner === 'domain' ? parsed.kid : undefined);
  // Why stays here: an unverified caller learns only that it is not known.
  if (!found.ok) throw new Problem('unknown_origin', `the keys of ${origin} cannot be verified here now`);
  return found.peer;
}
