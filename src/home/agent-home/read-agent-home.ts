// Reading Agent Homes: the whole record for people and operators, the definition for the Foundation.
import type { AgentDefinition, AgentDirectory } from '../../foundation/index.js';
import type { Sql } from '../../platform/index.js';
import type { PrincipalStatus } from '../principal/index.js';
import { type AgentDefinitionRow, type AgentHomeRecord, toRecord } from './agent-home.js';
import { type FindAgentHomes, findAgentHomes, readDefinitionByAddress, readDefinitionByHome } from './store.js';

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
  return {
    async byHome(sql, home) {
      const row = await readDefinitionByHome(sql, home);
      return row && toDefinition(row);
    },
    async byAgent(sql, tenant, agent) {
      const row = await readDefinitionByAddress(sql, agent);
      return row?.tenant === tenant ? toDefinition(row) : undefined;
    },
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
