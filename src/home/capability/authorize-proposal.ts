/**
 * Business authorization, thin: an agent may do what its own grants name, a person may speak as itself. What no rule allows
 * is denied; each answer names the rule.
 */
import type {
  ActionProposal,
  AgentDirectory,
  Authority,
  AuthorizationDecision,
  CapabilityGrant,
} from '../../foundation/index.js';
import type { Sql } from '../../platform/index.js';
import { type Principal, principalByHome, principalsByHome, receives } from '../principal/index.js';

export function grantAuthority(directory: AgentDirectory): Authority {
  const authorize: Authority['authorize'] = async (sql, proposal) =>
    proposal.run
      ? authorizeAgent(sql, directory, proposal)
      : authorizePerson(await principalByHome(sql, proposal.actor.home), proposal);
  return {
    authorize,
    async authorizeAll(sql, proposals) {
      const homes = proposals.flatMap(({ run, actor }) => (run ? [] : [actor.home]));
      const people = homes.length === 0 ? [] : await principalsByHome(sql, homes);
      const byHome = new Map<string, Principal>(people.map((person) => [person.home, person]));
      const decisions: AuthorizationDecision[] = [];
      for (const proposal of proposals) {
        const { run, actor } = proposal;
        decisions.push(run ? await authorize(sql, proposal) : authorizePerson(byHome.get(actor.home), proposal));
      }
      return decisions;
    },
  };
}

async function authorizeAgent(
  sql: Sql,
  directory: AgentDirectory,
  proposal: ActionProposal,
): Promise<AuthorizationDecision> {
  const policyId = 'home.grants';
  const agent = await directory.byHome(sql, proposal.actor.home);
  if (!agent || agent.agent !== proposal.actor.agent || agent.tenant !== proposal.tenant) {
    return { allowed: false, policyId, reason: 'actor_unknown' };
  }
  // A paused agent starts no run, but the one that it is in may end what it began.
  if (agent.status === 'ended') return { allowed: false, policyId, reason: 'actor_ended' };
  const allowed = agent.grants.some((grant) => covers(grant, proposal));
  return { allowed, policyId, reason: allowed ? 'granted' : 'not_granted' };
}

/** Without a run there is no runtime to be fenced: only a human of this domain speaks for itself. */
function authorizePerson(principal: Principal | undefined, proposal: ActionProposal): AuthorizationDecision {
  const policyId = 'home.person';
  if (principal?.kind !== 'human' || principal.address !== proposal.actor.agent || !receives(principal)) {
    return { allowed: false, policyId, reason: 'actor_unknown' };
  }
  const allowed = proposal.action.startsWith('interaction.');
  return { allowed, policyId, reason: allowed ? 'own_word' : 'not_granted' };
}

/** Both exact, or a prefix where the grant ends in `*`. */
function covers(grant: CapabilityGrant, { action, target }: Pick<ActionProposal, 'action' | 'target'>): boolean {
  return matches(grant.action, action) && matches(grant.target, target);
}

function matches(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text;
}
