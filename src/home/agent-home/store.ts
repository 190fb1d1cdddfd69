// The SQL of Agent Homes.
import type { AttentionSettings, CapabilityGrant } from '../../foundation/index.js';
import type { Sql, Tx } from '../../platform/index.js';
import type { JsonObject } from '../../protocol/index.js';
import type { AgentDefinitionRow, AgentHomeRow } from './agent-home.js';

// Keys are rotated rarely; a record shows as many as anybody would read.
const mostKeys = 1_000;

export interface NewAgentHome {
  home: string;
  agentId: string;
  owner: string;
  runtime: { id: string; config: JsonObject };
  attention: AttentionSettings;
  grants: readonly CapabilityGrant[];
  runtimeLineageRef: string;
}

export async function insertAgentHome(tx: Tx, agent: NewAgentHome): Promise<void> {
  await tx`
    insert into home.agent_homes
           (home, agent_id, owner, runtime_id, runtime_config, attention, capability_grants, runtime_lineage_ref)
    values (${agent.home}, ${agent.agentId}, ${agent.owner}, ${agent.runtime.id}, ${tx.json(agent.runtime.config)},
            ${tx.json({ ...agent.attention })},
            ${tx.json(agent.grants.map(({ action, target }) => ({ action, target })))}, ${agent.runtimeLineageRef})`;
}

/** What the Foundation asks for at every input: no more than that. */
export function readDefinitionsByHome(sql: Sql, homes: readonly string[]): Promise<AgentDefinitionRow[]> {
  return sql<AgentDefinitionRow[]>`
    select a.home, p.address, p.tenant, p.status, a.runtime_id, a.runtime_config, a.attention, a.capability_grants
      from home.agent_homes a
      join home.principals p on p.home = a.home
     where a.home = any(${[...homes]}::text[])`;
}

export function readDefinitionsByAddress(sql: Sql, addresses: readonly string[]): Promise<AgentDefinitionRow[]> {
  return sql<AgentDefinitionRow[]>`
    select a.home, p.address, p.tenant, p.status, a.runtime_id, a.runtime_config, a.attention, a.capability_grants
      from home.principals p
      join home.agent_homes a on a.home = p.home
     where p.address = any(${[...addresses]}::text[])`;
}

export interface FindAgentHomes {
  address?: string | undefined;
  tenant?: string | undefined;
  owner?: string | undefined;
  /** The last address of the page before. */
  after?: string | undefined;
  limit: number;
}

export async function findAgentHomes(sql: Sql, find: FindAgentHomes): Promise<AgentHomeRow[]> {
  const { address = null, tenant = null, owner = null, after = '', limit } = find;
  return sql<AgentHomeRow[]>`
    select a.home, p.principal_id, p.address, p.tenant, p.status, a.owner, a.runtime_id, a.runtime_config,
           a.attention, a.capability_grants, a.memory_refs, a.relationship_refs, a.environment_refs,
           a.commitment_cursor, a.runtime_lineage_ref, a.latest_audit_cursor,
           l.placement_lease_id, l.placement_epoch,
           array(select k.key_ref
                   from home.principal_keys k
                  where k.home = a.home
                  order by k.number
                  limit ${mostKeys}) as key_refs
      from home.principals p
      join home.agent_homes a on a.home = p.home
      left join home.placements l on l.home = p.home
     where p.address > ${after}
       and (${address}::text is null or p.address = ${address})
       and (${tenant}::text is null or p.tenant = ${tenant})
       and (${owner}::text is null or a.owner = ${owner})
     order by p.address
     limit ${limit}`;
}
