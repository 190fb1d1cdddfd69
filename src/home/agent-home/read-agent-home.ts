// Reading Agent Homes: the whole record for people and operators, the definition for the Foundation.
import type { AgentDefinition, AgentDirectory } from '../../foundation/index.js';
import type { Sql } from '../../platform/index.js';
import type { PrincipalStatus } from '../principal/index.js';
import { type AgentDefinitionRow, type AgentHomeRecord, toRecord } from './agent-home.js';
import { type FindAgentHomes, findAgentHomes, readDefinitionsByAddress, readDefinitionsByHome } from './store.js';

export async function agentHomeRecord(sql: Sql, address: string): Promise<AgentHomeRecord | undefined> {
  const [row] = await findAgentHomes(sql, { address, limit: 1 });
  return row && toRecord(row);
}

export type ListAgentHomes = Omit<FindAgentHomes, 'address'>;

/** In the order of their addresses. */
export async function listAgentHomes(sql: Sql, list: ListAgentHomes): Promise<AgentHomeRecord[]> {
  return (await findAgentHomes(sql, list)).map(toRecord);
}

/** The Foundation's port: who the agents are. */
export function homeAgentDirectory(): AgentDirectory {
  const byHomes = async (sql: Sql, homes: readonly string[]) =>
    (await readDefinitionsByHome(sql, homes)).map(toDefinition);
  const byAgents = async (sql: Sql, tenant: string, agents: readonly string[]) =>
    (await readDefinitionsByAddress(sql, agents)).filter((row) => row.tenant === tenant).map(toDefinition);
  return {
    byHomes,
    byAgents,
    byHome: async (sql, home) => (await byHomes(sql, [home]))[0],
    byAgent: async (sql, tenant, agent) => (await byAgents(sql, tenant, [agent]))[0],
  };
}

function toDefinition(row: AgentDefinitionRow): AgentDefinition {
  return {
    home: row.home,
    agent: row.address,
    tenant: row.tenant,
    status: activityOf(row.status),
    runtime: { id: row.runtimeId, config: row.runtimeConfig },
    attention: row.attention,
    grants: row.capabilityGrants,
  };
}

function activityOf(status: PrincipalStatus): AgentDefinition['status'] {
  switch (status) {
    case 'created':
    case 'active':
      return 'active';
    case 'paused':
    case 'migrating':
      return 'paused';
    case 'revoked':
    case 'ended':
      return 'ended';
  }
}
