// A principal as the admin API shows it, and what may be given when one is created.
import { z } from 'zod';
import { type Principal, type PrincipalRefusal, visibilities } from '../../home/index.js';
import { formatInstant, Problem } from '../../protocol/index.js';

export const principalName = z.string().max(64);
export const displayName = z.string().min(1).max(200);
export const visibility = z.enum(visibilities);

export function principalView(principal: Principal): object {
  return {
    address: principal.address,
    kind: principal.kind,
    name: nameOf(principal.address),
    principal_id: principal.principalId,
    home: principal.home,
    tenant: principal.tenant,
    display_name: principal.displayName,
    roles: principal.roles,
    visibility: principal.visibility,
    status: principal.status,
    created_at: formatInstant(principal.createdAt),
  };
}

export function nameOf(address: string): string {
  return address.slice(address.lastIndexOf('/') + 1);
}

export function principalProblem(refusal: PrincipalRefusal): Problem {
  return new Problem(refusal.reason === 'address_taken' ? 'conflict' : 'schema_invalid', refusal.detail);
}
