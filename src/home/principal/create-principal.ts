/**
 * Creates a human or a service. Keys are made before the transaction; row, genesis, first key and mailbox are then written
 * together. Agents are created in the agent-home room, out of the same two steps.
 */
import { appendAudit } from '../../foundation/index.js';
import type { Clock, Database, Random, Tx } from '../../platform/index.js';
import {
  canonicalize,
  digestOf,
  formatAddress,
  type GenesisRecord,
  homeTagOf,
  isPrincipalName,
  keyPairFromSeed,
  LIMITS,
  type PrincipalKind,
  principalIdOf,
  principalKeyRef,
  type Refusal,
  refuse,
  toBase64url,
  toUtf8,
} from '../../protocol/index.js';
import type { DomainRecord } from '../domain/index.js';
import type { CustodyKey, KeyCustody } from '../key-custody/index.js';
import { createMailbox } from '../mailbox/index.js';
import type { Principal, Role, Visibility } from './principal.js';
import { insertPrincipal, insertPrincipalKey, type NewPrincipalRow, principalByHome } from './store.js';

export interface PrincipalGateway {
  db: Database;
  custody: KeyCustody;
  domain: DomainRecord;
  clock: Clock;
  random: Random;
}

export interface PrincipalRequest {
  name: string;
  displayName?: string | undefined;
  tenant?: string | undefined;
  roles?: readonly Role[] | undefined;
  visibility?: Visibility | undefined;
  /** Address of who asks, for the audit. */
  actor: string;
}

export type CreatePrincipal = PrincipalRequest & { kind: Exclude<PrincipalKind, 'agent'> };

export interface PrincipalCreated {
  ok: true;
  principal: Principal;
  /** Given once and kept nowhere: only its hash is in the genesis. */
  recoveryKey: string;
}

export type PrincipalRefusal = Refusal<'name_invalid' | 'request_invalid' | 'address_taken'>;

export async function createPrincipal(
  gateway: PrincipalGateway,
  request: CreatePrincipal,
): Promise<PrincipalCreated | PrincipalRefusal> {
  const prepared = await preparePrincipal(gateway, request);
  if (!prepared.ok) return prepared;
  const principal = await gateway.db.transact('create principal', (tx) => storePrincipal(tx, prepared));
  if (!principal) return addressTaken(prepared);
  return { ok: true, principal, recoveryKey: prepared.recoveryKey };
}

export interface PreparedPrincipal {
  ok: true;
  row: NewPrincipalRow;
  key: CustodyKey;
  recoveryKey: string;
  actor: string;
}

/** Checks the request and makes keys and id; touches no table, so that no transaction waits for a key. */
export async function preparePrincipal(
  { custody, domain, random }: PrincipalGateway,
  request: PrincipalRequest & { kind: PrincipalKind },
): Promise<PreparedPrincipal | PrincipalRefusal> {
  const { kind, name } = request;
  if (!isPrincipalName(name)) return refuse('name_invalid', nameRule);
  const fault = faultOf(request);
  if (fault) return refuse('request_invalid', fault);
  const address = formatAddress({ kind, domain: domain.name, name });
  const key = await custody.generate();
  const seed = random.bytes(32);
  const recovery = keyPairFromSeed(seed);
  const genesis: GenesisRecord = {
    address,
    first_key: { kty: key.publicJwk.kty, crv: key.publicJwk.crv, x: key.publicJwk.x },
    recovery_key_hash: digestOf(recovery.publicKey.bytes),
    salt: toBase64url(random.bytes(16)),
  };
  const principalId = principalIdOf(genesis);
  const row: NewPrincipalRow = {
    home: homeTagOf(principalId),
    principalId,
    address,
    kind,
    tenant: request.tenant ?? domain.tenantDefault,
    displayName: request.displayName ?? name,
    roles: [...(request.roles ?? [])],
    visibility: request.visibility ?? 'peers',
    genesis: toUtf8(canonicalize(genesis)),
  };
  return { ok: true, row, key, recoveryKey: toBase64url(seed), actor: request.actor };
}

/** Writes everything that a principal is; undefined, with nothing written, when the address was given before. */
export async function storePrincipal(tx: Tx, prepared: PreparedPrincipal): Promise<Principal | undefined> {
  const { row, key, actor } = prepared;
  if (!(await insertPrincipal(tx, row))) return undefined;
  await insertPrincipalKey(tx, { ...key, home: row.home, number: 1, keyRef: principalKeyRef(row.address, 1) });
  await createMailbox(tx, row.home);
  await appendAudit(tx, {
    home: row.home,
    actor,
    action: 'principal.create',
    object: row.address,
    outcome: 'created',
    details: { kind: row.kind, principal_id: row.principalId },
  });
  return principalByHome(tx, row.home);
}

export function addressTaken(prepared: PreparedPrincipal): PrincipalRefusal {
  return refuse('address_taken', `${prepared.row.address} was given before; an address is never given twice`);
}

const nameRule =
  'a name has 1 to 64 characters of a-z, 0-9, dot, hyphen and underscore, and starts and ends with a letter or digit';

function faultOf(request: PrincipalRequest & { kind: PrincipalKind }): string | undefined {
  const { displayName, tenant, roles, kind } = request;
  if (displayName !== undefined && (displayName.trim() === '' || displayName.length > LIMITS.shortTextChars)) {
    return `a display name has 1 to ${LIMITS.shortTextChars} characters`;
  }
  if (tenant !== undefined && !isPrincipalName(tenant)) return 'a tenant is named as a principal is';
  if (kind !== 'human' && roles !== undefined && roles.length > 0) return 'only a human may have a role';
  return undefined;
}
