// The first operator: made at the first start, so that somebody can come in; its token is shown once.

import { formatAddress } from '../../protocol/index.js';
import { lockDomain } from '../domain/index.js';
import { createPrincipal, type PrincipalGateway, principalByAddress } from '../principal/index.js';
import { storeCredential } from './issue-credential.js';
import { operatorExists, revokeStartCredentials } from './store.js';

export interface OperatorMade {
  address: string;
  token: string;
  /** Present when the principal was made now. */
  recoveryKey?: string;
}

const startLabel = 'first start';

/**
 * Undefined when an operator credential holds. When all have been revoked or have expired, or the start's own is to be
 * replaced because its token was lost, a new one is made: who can start the process is the operator anyway.
 */
export async function ensureOperator(
  gateway: PrincipalGateway,
  { replace }: { replace: boolean } = { replace: false },
): Promise<OperatorMade | undefined> {
  if (!replace && (await operatorExists(gateway.db.sql))) return undefined;
  const address = formatAddress({ kind: 'human', domain: gateway.domain.name, name: 'operator' });
  const actor = 'system:first-start';
  const created = await createPrincipal(gateway, {
    kind: 'human',
    name: 'operator',
    displayName: 'Operator',
    roles: ['operator'],
    visibility: 'hidden',
    actor,
  });
  const issued = await gateway.db.transact('issue operator credential', async (tx) => {
    // Of several first starters one issues it; the others then find it.
    await lockDomain(tx);
    if (!replace && (await operatorExists(tx))) return undefined;
    const principal = await principalByAddress(tx, address);
    if (!principal?.roles.includes('operator')) throw new Error(`${address} exists without the operator role`);
    if (replace) await revokeStartCredentials(tx, { home: principal.home, label: startLabel });
    return storeCredential(tx, gateway, { kind: 'operator', principal, label: startLabel, actor });
  });
  if (!issued) return undefined;
  const made = { address, token: issued.token };
  return created.ok ? { ...made, recoveryKey: created.recoveryKey } : made;
}
