// The directory: which principals an asker may see. Each principal's visibility decides, not the door that asks.
import type { Sql } from '../../platform/index.js';
import type { Principal, Visibility } from './principal.js';
import { listVisible } from './store.js';

export type Asker = 'public' | 'peer' | 'operator';

interface DirectoryEntry {
  address: string;
  principalId: string;
  kind: Principal['kind'];
  displayName: string;
}

export interface DirectoryPage {
  entries: DirectoryEntry[];
  /** Give it as `after` for the next page; undefined at the end. */
  next: string | undefined;
}

const visibleTo: Record<Asker, readonly Visibility[]> = {
  public: ['public'],
  peer: ['public', 'peers'],
  operator: ['public', 'peers', 'hidden'],
};

export async function directoryFor(
  sql: Sql,
  asker: Asker,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<DirectoryPage> {
  const found = await listVisible(sql, { visible: visibleTo[asker], after: after ?? '', limit: limit + 1 });
  const page = found.slice(0, limit);
  return {
    entries: page.map(({ address, principalId, kind, displayName }) => ({ address, principalId, kind, displayName })),
    next: found.length > limit ? page.at(-1)?.address : undefined,
  };
}
