// Creates a webhook source: its service principal, mailbox and sealed secret in one transaction.
import { toBase64url, toUtf8 } from '../../protocol/index.js';
import {
  addressTaken,
  type PrincipalCreated,
  type PrincipalGateway,
  type PrincipalRefusal,
  type PrincipalRequest,
  preparePrincipal,
  storePrincipal,
} from '../principal/index.js';
import { insertWebhookSource } from './store.js';
import { secretLabel, type WebhookAdapter } from './webhook-source.js';

export type CreateWebhookSource = Omit<PrincipalRequest, 'roles'> & { adapter: WebhookAdapter };

/** The secret is told once: it goes into the settings of whoever posts. */
export type WebhookSourceCreated = PrincipalCreated & { secret: string };

export async function createWebhookSource(
  gateway: PrincipalGateway,
  request: CreateWebhookSource,
): Promise<WebhookSourceCreated | PrincipalRefusal> {
  const prepared = await preparePrincipal(gateway, { visibility: 'hidden', ...request, kind: 'service' });
  if (!prepared.ok) return prepared;
  const secret = toBase64url(gateway.random.bytes(32));
  const sealedSecret = gateway.custody.sealSecret(secretLabel(prepared.row.home), toUtf8(secret));
  const principal = await gateway.db.transact('create webhook source', async (tx) => {
    const stored = await storePrincipal(tx, prepared);
    if (!stored) return undefined;
    await insertWebhookSource(tx, { home: stored.home, name: request.name, adapter: request.adapter, sealedSecret });
    return stored;
  });
  return principal ? { ok: true, principal, recoveryKey: prepared.recoveryKey, secret } : addressTaken(prepared);
}
