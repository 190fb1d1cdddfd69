/** Versioned domain state as one agent's environment knows it (F16). */
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonValue } from '../../protocol/index.js';
import type { TrustClass } from '../input/index.js';

export interface EnvironmentState {
  resource: string;
  version: number;
  state: JsonValue;
  trustClass: TrustClass;
  inputId: string | null;
  updatedAt: Date;
}

export interface ProjectState {
  home: string;
  resource: string;
  state: JsonValue;
  trustClass: TrustClass;
  inputId: string;
}

/** Takes an input's content as the newest state of its resource; answers the version. */
export async function projectState(tx: Tx, projected: ProjectState): Promise<number> {
  const [row] = await tx<{ version: number }[]>`
    insert into foundation.environment_states as known (home, resource, version, state, trust_class, input_id)
    values (
      ${projected.home}, ${projected.resource}, 1, ${tx.json(projected.state)}, ${projected.trustClass},
      ${projected.inputId})
    on conflict (home, resource) do update
       set version = known.version + 1, state = excluded.state, trust_class = excluded.trust_class,
           input_id = excluded.input_id, updated_at = hearth_now()
    returning version`;
  if (!row) throw new Error('a projection was not written');
  return row.version;
}

/** What several environments know of some resources. */
export function selectStates(
  sql: Sql,
  wanted: readonly { home: string; resource: string }[],
): Promise<(EnvironmentState & { home: string })[]> {
  return sql<(EnvironmentState & { home: string })[]>`
    select s.home, s.resource, s.version, s.state, s.trust_class, s.input_id, s.updated_at
      from foundation.environment_states s
     where (s.home, s.resource) in (select home, resource
                                      from unnest(${wanted.map(({ home }) => home)}::text[],
                                                  ${wanted.map(({ resource }) => resource)}::text[]) as w (home, resource))
     order by s.home, s.resource`;
}
