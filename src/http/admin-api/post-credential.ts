// POST /admin/v1/credentials: the token is in this answer and nowhere else.
import { z } from 'zod';
import {
  type CredentialKind,
  credentialKinds,
  issueCredential,
  listCredentials,
  type PrincipalGateway,
} from '../../home/index.js';
import { formatAddress, isPrincipalName, Problem } from '../../protocol/index.js';
import type { Endpoint } from '../endpoint.js';
import { requireOperator } from '../middleware/authenticate.js';
import { jsonBody } from '../middleware/body.js';
import { credentialView } from './credential-view.js';

const longestLifeS = 10 * 365 * 24 * 3_600;

const shape = z.strictObject({
  kind: z.enum(credentialKinds),
  principal: z.string().min(1).max(255),
  source: z.string().min(1).max(255).optional(),
  label: z.string().max(200).default(''),
  expires_in_s: z.int().min(1).max(longestLifeS).optional(),
});

export function postCredential(deps: PrincipalGateway): Endpoint {
  return {
    method: 'POST',
    path: '/admin/v1/credentials',
    takes: { body: shape },
    async handle(ctx) {
      const caller = requireOperator(ctx);
      const { kind, principal, source, label, expires_in_s } = await jsonBody(ctx, shape);
      const expiresAt =
        expires_in_s === undefined ? undefined : new Date(deps.clock.now().getTime() + expires_in_s * 1_000);
      const address = addressFor(deps, kind, principal);
      const issued = await issueCredential(deps, {
        kind,
        principal: address,
        source,
        label,
        expiresAt,
        actor: caller.address,
      });
      if (!issued.ok)
        throw new Problem(issued.reason === 'principal_unknown' ? 'not_found' : 'schema_invalid', issued.detail);
      ctx.status = 201;
      ctx.body = { credential: await viewOf(deps, issued.id), token: issued.token };
    },
  };
}

/** A bare name means the principal of this domain that such a credential is for. */
function addressFor({ domain }: PrincipalGateway, kind: CredentialKind, name: string): string {
  if (!isPrincipalName(name)) return name;
  return formatAddress({ kind: kind === 'producer' ? 'service' : 'human', domain: domain.name, name });
}

async function viewOf({ db }: PrincipalGateway, id: string): Promise<object> {
  const [credential] = await listCredentials(db.sql, { after: id.slice(0, -1), limit: 1 });
  return credential?.id === id ? credentialView(db.sql, credential) : { id };
}
