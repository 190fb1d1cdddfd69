// Business authorization: an agent does what its grants name, a person speaks for itself, everything else is denied.
import { describe, expect, it } from 'vitest';
import type { ActionProposal, AgentDefinition, AgentDirectory, CapabilityGrant } from '../../src/foundation/index.js';
import { grantAuthority } from '../../src/home/index.js';
import type { Sql } from '../../src/platform/index.js';

// The directory below answers without a database.
const noSql = undefined as unknown as Sql;

function directoryOf(agent: Partial<AgentDefinition>): AgentDirectory {
  const definition: AgentDefinition = {
    home: 'h',
    agent: 'agent://a.test/agents/x',
    tenant: 'default',
    status: 'active',
    runtime: { id: 'scripted', config: {} },
    attention: { whenActive: 'enqueue' },
    grants: [],
    ...agent,
  };
  return {
    byHome: async (_sql, home) => (home === 'h' ? definition : undefined),
    byAgent: async () => undefined,
    byHomes: async () => [],
    byAgents: async () => [],
  };
}

function proposal(more: Partial<ActionProposal> = {}): ActionProposal {
  return {
    proposalScope: 'ses_h_1',
    proposalId: 'p',
    actor: { home: 'h', agent: 'agent://a.test/agents/x' },
    tenant: 'default',
    action: 'http.post',
    target: 'https://b.test/orders',
    input: {},
    run: {
      runId: 'run_h_1',
      sessionId: 'ses_h_1',
      fence: { home: 'h', placementLeaseId: 'l', placementEpoch: 1 },
      activationInputId: 'in_h_1',
    },
    ...more,
  };
}

async function allowed(grants: CapabilityGrant[], more: Partial<ActionProposal> = {}): Promise<boolean> {
  return (await grantAuthority(directoryOf({ grants })).authorize(noSql, proposal(more))).allowed;
}

describe('grants', () => {
  it.each([
    ['exact', [{ action: 'http.post', target: 'https://b.test/orders' }], true],
    ['prefixes', [{ action: 'http.*', target: 'https://b.test/*' }], true],
    ['none', [], false],
    ['another action', [{ action: 'http.get', target: '*' }], false],
    ['another target', [{ action: '*', target: 'https://b.test/order' }], false],
    [
      'action and target of two grants',
      [
        { action: 'http.post', target: 'x' },
        { action: 'x', target: 'https://b.test/orders' },
      ],
      false,
    ],
    ['a star in the middle is no wildcard', [{ action: 'http.post', target: 'https://*/orders' }], false],
  ])('%s', async (_name, grants, expected) => {
    expect(await allowed(grants)).toBe(expected);
  });

  it('cover only the agent that they were given to, in its tenant, while it has not ended', async () => {
    const grants = [{ action: '*', target: '*' }];
    expect(await allowed(grants, { actor: { home: 'h', agent: 'agent://a.test/agents/y' } })).toBe(false);
    expect(await allowed(grants, { actor: { home: 'i', agent: 'agent://a.test/agents/x' } })).toBe(false);
    expect(await allowed(grants, { tenant: 'other' })).toBe(false);
    const ended = grantAuthority(directoryOf({ grants, status: 'ended' }));
    expect(await ended.authorize(noSql, proposal())).toMatchObject({
      allowed: false,
      reason: 'actor_ended',
      policyId: 'home.grants',
    });
  });
});
