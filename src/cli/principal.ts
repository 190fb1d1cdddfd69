// How a principal looks in answers and on the screen.
import { z } from 'zod';
import { type Column, sheet } from './printable.js';

export const principalShape = z.looseObject({
  address: z.string(),
  principal_id: z.string(),
  display_name: z.string().nullish(),
  roles: z.array(z.string()),
  visibility: z.string(),
  status: z.string(),
  created_at: z.string(),
});
export type Principal = z.infer<typeof principalShape>;

export const principalColumns: readonly Column<Principal>[] = [
  { title: 'ADDRESS', value: (principal) => principal.address },
  { title: 'NAME', value: (principal) => principal.display_name },
  { title: 'STATUS', value: (principal) => principal.status },
  { title: 'ROLES', value: (principal) => principal.roles },
];

export function showPrincipal(principal: Principal): string {
  return sheet([
    ['address', principal.address],
    ['name', principal.display_name],
    ['principal id', principal.principal_id],
    ['status', principal.status],
    ['roles', principal.roles],
    ['visibility', principal.visibility],
    ['since', principal.created_at],
  ]);
}
