// The Agent Home: the durable self of an agent, who acts. What executes it now is its placement.
import type { AttentionSettings, CapabilityGrant, LaneOrder, WhenActive } from '../../foundation/index.js';
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
  attention: AttentionRecord;
}

/** What decides whether an event wakes the agent; null where it has no say. */
interface AttentionRecord {
  when_active: WhenActive;
  lane_order: LaneOrder;
  merge_window_ms: number;
  strangers: 'wake' | 'project' | 'ignore';
  stale_after_ms: number | null;
  budget: { wakes: number; window_ms: number } | null;
  duplicate_window_ms: number | null;
  urgent_within_ms: number | null;
  least_worth: number | null;
}

/** What the Foundation has to know of an agent. */
export interface AgentDefinitionRow {
  home: string;
  address: Address;
  tenant: string;
  status: PrincipalStatus;
  runtimeId: string;
  runtimeConfig: JsonObject;
  attention: AttentionSettings;
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
    attention: attentionOf(row.attention),
  };
}

function attentionOf({ budget, ...settings }: AttentionSettings): AttentionRecord {
  return {
    when_active: settings.whenActive,
    lane_order: settings.laneOrder ?? 'arrival',
    merge_window_ms: settings.mergeWindowMs ?? 0,
    strangers: settings.strangers ?? 'wake',
    stale_after_ms: settings.staleAfterMs ?? null,
    budget: budget === undefined ? null : { wakes: budget.wakes, window_ms: budget.windowMs },
    duplicate_window_ms: settings.duplicateWindowMs ?? null,
    urgent_within_ms: settings.urgentWithinMs ?? null,
    least_worth: settings.leastWorth ?? null,
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
