// The Agent Home: the durable self of an agent, who acts. What executes it now is its placement.
import type { CapabilityGrant, WhenActive } from '../../foundation/index.js';
import { type Address, type JsonObject, parseAddress } from '../../protocol/index.js';
import type { PrincipalStatus } from '../principal/index.js';

/** The record as its readers outside see it (D1), hence in the names of the wire. */
export interface AgentHomeRecord {
  agent_id: string;
  principal_id: string;
  home_domain: string;
  owner: string;
  status: PrincipalStatus;
  key_refs: string[];
  mailbox_ref: string;
  memory_refs: string[];
  relationship_refs: string[];
  capability_grants: CapabilityGrant[];
  commitment_cursor: number;
  runtime_lineage_ref: string;
  placement_lease_id: string | null;
  placement_epoch: number | null;
  environment_refs: string[];
  latest_audit_cursor: string | null;
  runtime: { id: string; config: JsonObject };
  attention: { when_active: WhenActive };
}

/** What the Foundation has to know of an agent. */
export interface AgentDefinitionRow {
  home: string;
  address: Address;
  tenant: string;
  status: PrincipalStatus;
  runtimeId: string;
  runtimeConfig: JsonObject;
  attention: { whenActive: WhenActive };
  capabilityGrants: CapabilityGrant[];
}

/** The row behind the record, joined with the principal, its keys and its placement. */
export interface AgentHomeRow extends AgentDefinitionRow {
  principalId: string;
  owner: string;
  keyRefs: string[];
  memoryRefs: string[];
  relationshipRefs: string[];
  environmentRefs: string[];
  commitmentCursor: number;
  runtimeLineageRef: string;
  latestAuditCursor: string | null;
  placementLeaseId: string | null;
  placementEpoch: number | null;
}

export function toRecord(row: AgentHomeRow): AgentHomeRecord {
  const { domain, name } = partsOf(row.address);
  return {
    agent_id: row.address,
    principal_id: row.principalId,
    home_domain: domain,
    owner: row.owner,
    status: row.status,
    key_refs: row.keyRefs,
    mailbox_ref: `mailbox://${domain}/${name}`,
    memory_refs: row.memoryRefs,
    relationship_refs: row.relationshipRefs,
    capability_grants: row.capabilityGrants,
    commitment_cursor: row.commitmentCursor,
    runtime_lineage_ref: row.runtimeLineageRef,
    placement_lease_id: row.placementLeaseId,
    placement_epoch: row.placementEpoch,
    environment_refs: row.environmentRefs,
    latest_audit_cursor: row.latestAuditCursor,
    runtime: { id: row.runtimeId, config: row.runtimeConfig },
    attention: { when_active: row.attention.whenActive },
  };
}

export function lineageRef(address: Address): string {
  const { domain, name } = partsOf(address);
  return `lineage://${domain}/${name}`;
}

function partsOf(address: Address): { domain: string; name: string } {
  const parsed = parseAddress(address);
  if (!parsed) throw new Error(`not an address: ${address}`);
  return parsed;
}
