/**
 * Who may see and command what behind the private door: an operator everything of its tenant, a person the agents that it
 * owns. What a caller may not see looks exactly like what does not exist (BR-68).
 */
import type { Reader } from '../../foundation/index.js';
import {
  type AgentHomeRecord,
  type AuthenticatedCaller,
  agentHomeRecord,
  listAgentHomes,
  type Principal,
  principalByAddress,
  principalByHome,
} from '../../home/index.js';
import type { Database } from '../../platform/index.js';
import { type Domain, formatAddress, homeOf, isPrincipalName, Problem } from '../../protocol/index.js';

export interface Access {
  db: Database;
  domain: { name: Domain };
}

export interface VisibleAgent {
  principal: Principal;
  record: AgentHomeRecord;
}

/** A bare name means an agent of this domain. */
function agentAddress({ domain }: Access, nameOrAddress: string): string {
  if (!isPrincipalName(nameOrAddress)) return nameOrAddress;
  return formatAddress({ kind: 'agent', domain: domain.name, name: nameOrAddress });
}

async function findAgent(
  access: Access,
  caller: AuthenticatedCaller,
  nameOrAddress: string,
): Promise<VisibleAgent | undefined> {
  const principal = await principalByAddress(access.db.sql, agentAddress(access, nameOrAddress));
  return principal && ifVisible(access, caller, principal);
}

export async function requireAgent(
  access: Access,
  caller: AuthenticatedCaller,
  nameOrAddress: string,
): Promise<VisibleAgent> {
  const agent = await findAgent(access, caller, nameOrAddress);
  if (!agent) throw new Problem('not_found', 'there is no such agent');
  return agent;
}

/** The agent that an id of a run, session or effect belongs to. */
export async function findAgentOf(
  access: Access,
  caller: AuthenticatedCaller,
  id: string,
): Promise<VisibleAgent | undefined> {
  const home = homeOf(id);
  const principal = home && (await principalByHome(access.db.sql, home));
  return principal && ifVisible(access, caller, principal);
}

/** True when the target names agents, and every one that it names is the caller's to command. */
export async function mayCommand(
  access: Access,
  caller: AuthenticatedCaller,
  target: { agent?: string | undefined; session?: string | undefined; run?: string | undefined },
): Promise<boolean> {
  const { agent, session, run } = target;
  const named = [
    ...(agent === undefined ? [] : [findAgent(access, caller, agent)]),
    ...[session, run].flatMap((id) => (id === undefined ? [] : [findAgentOf(access, caller, id)])),
  ];
  const found = await Promise.all(named);
  return found.length > 0 && found.every((one) => one !== undefined);
}

/** Whose mailbox, commitments and conversations are read: the caller's own, or those of an agent that it may see. */
export async function readableHome(
  access: Access,
  caller: AuthenticatedCaller,
  agent: string | undefined,
): Promise<string> {
  if (agent === undefined) return caller.home;
  return (await requireAgent(access, caller, agent)).principal.home;
}

const ownAgents = 1_000;

/** Whose runs and sessions are listed: those of one agent, or of every agent that the caller may see. */
export async function agentsReader(
  access: Access,
  caller: AuthenticatedCaller,
  agent: string | undefined,
): Promise<Reader> {
  const { tenant } = caller;
  if (agent !== undefined) return { tenant, homes: [(await requireAgent(access, caller, agent)).principal.home] };
  if (caller.kind === 'operator') return { tenant, homes: 'all' };
  if (caller.kind === 'producer') return { tenant, homes: [] };
  const own = await listAgentHomes(access.db.sql, { tenant, owner: caller.address, limit: ownAgents });
  const principals = await Promise.all(own.map((record) => principalByAddress(access.db.sql, record.agent_id)));
  return { tenant, homes: principals.flatMap((principal) => principal?.home ?? []) };
}

/** The addresses behind these homes, as far as there are principals behind them. */
export async function addressesOf(access: Access, homes: readonly string[]): Promise<Map<string, string>> {
  const principals = await Promise.all([...new Set(homes)].map((home) => principalByHome(access.db.sql, home)));
  return new Map(principals.flatMap((principal) => (principal ? [[principal.home, principal.address]] : [])));
}

async function ifVisible(
  access: Access,
  caller: AuthenticatedCaller,
  principal: Principal,
): Promise<VisibleAgent | undefined> {
  if (principal.kind !== 'agent' || principal.tenant !== caller.tenant || caller.kind === 'producer') return undefined;
  const record = await agentHomeRecord(access.db.sql, principal.address);
  if (!record || (caller.kind === 'person' && record.owner !== caller.address)) return undefined;
  return { principal, record };
}
