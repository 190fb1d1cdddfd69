/** Agents as an embedder declares them: a name, a runtime, and what they may do. Their home is derived from the name. */
import { type JsonObject, sha256, toUtf8 } from '../../protocol/index.js';
import type { ActionProposal } from '../effect/index.js';
import type { AgentDefinition, AgentDirectory, Authority, CapabilityGrant } from '../ports.js';

export interface EmbeddedAgent {
  name: string;
  runtime: string;
  config?: JsonObject;
  /** Which effects it may ask for; none without. */
  grants?: readonly CapabilityGrant[];
  /** Types of events, or prefixes that end in `.*`, that wake it although nobody addressed it. */
  subscriptions?: readonly string[];
}

export const embeddedTenant = 'default';

/** The same name is the same agent at the next start, with its sessions. */
export function embeddedHome(name: string): string {
  return Buffer.from(sha256(toUtf8(`embedded agent ${name}`)))
    .toString('hex')
    .slice(0, 12);
}

export function embeddedDirectory(agents: readonly EmbeddedAgent[]): AgentDirectory {
  const byHome = new Map(agents.map((agent) => [embeddedHome(agent.name), definitionOf(agent)]));
  const find = (homes: readonly string[]) => homes.flatMap((home) => byHome.get(home) ?? []);
  const findAgents = (tenant: string, names: readonly string[]) =>
    tenant === embeddedTenant ? find(names.map(embeddedHome)) : [];
  return {
    byHome: (_, home) => Promise.resolve(byHome.get(home)),
    byAgent: (_, tenant, agent) => Promise.resolve(findAgents(tenant, [agent])[0]),
    byHomes: (_, homes) => Promise.resolve(find(homes)),
    byAgents: (_, tenant, names) => Promise.resolve(findAgents(tenant, names)),
  };
}

function definitionOf({ name, runtime, config = {}, grants = [] }: EmbeddedAgent): AgentDefinition {
  return {
    home: embeddedHome(name),
    agent: name,
    tenant: embeddedTenant,
    status: 'active',
    runtime: { id: runtime, config },
    attention: { whenActive: 'enqueue' },
    grants,
  };
}

/** What no grant names is denied. */
export function embeddedAuthority(directory: AgentDirectory): Authority {
  return {
    async authorize(sql, proposal) {
      const agent = await directory.byHome(sql, proposal.actor.home);
      const allowed = agent?.grants.some((grant) => covers(grant, proposal)) ?? false;
      return { allowed, policyId: 'embedding.grants', reason: allowed ? 'granted' : 'not_granted' };
    },
  };
}

function covers(grant: CapabilityGrant, { action, target }: Pick<ActionProposal, 'action' | 'target'>): boolean {
  return matches(grant.action, action) && matches(grant.target, target);
}

function matches(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text;
}
