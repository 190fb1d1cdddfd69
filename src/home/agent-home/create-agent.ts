// Creates an agent: a principal with its Agent Home and standing subscriptions, in one transaction. Nothing is placed yet.
import {
  type AttentionSettings,
  addStandingSubscription,
  type CapabilityGrant,
  type InputPriority,
  type WhenActive,
} from '../../foundation/index.js';
import type { Sql } from '../../platform/index.js';
import { type JsonObject, type Refusal, refuse } from '../../protocol/index.js';
import {
  addressTaken,
  type PrincipalCreated,
  type PrincipalGateway,
  type PrincipalRefusal,
  type PrincipalRequest,
  preparePrincipal,
  principalByAddress,
  storePrincipal,
} from '../principal/index.js';
import { lineageRef } from './agent-home.js';
import { insertAgentHome } from './store.js';

interface StandingSubscription {
  type: string;
  subject?: string | undefined;
  whenActive?: WhenActive | undefined;
  priority?: InputPriority | undefined;
}

export type CreateAgent = Omit<PrincipalRequest, 'roles'> & {
  /** Address of the human who answers for it. */
  owner: string;
  /** What runs it; whether the id is known and the config fits is the door's check. */
  runtime: { id: string; config: JsonObject };
  attention?: AttentionSettings | undefined;
  grants?: readonly CapabilityGrant[] | undefined;
  subscriptions?: readonly StandingSubscription[] | undefined;
};

export type AgentRefusal = PrincipalRefusal | Refusal<'owner_unknown'>;

export async function createAgent(
  gateway: PrincipalGateway,
  request: CreateAgent,
): Promise<PrincipalCreated | AgentRefusal> {
  if (!(await isOwner(gateway.db.sql, request.owner))) {
    return refuse('owner_unknown', `${request.owner} is not an active human of this domain`);
  }
  const prepared = await preparePrincipal(gateway, { ...request, kind: 'agent' });
  if (!prepared.ok) return prepared;
  const principal = await gateway.db.transact('create agent', async (tx) => {
    const stored = await storePrincipal(tx, prepared);
    if (!stored) return undefined;
    await insertAgentHome(tx, {
      home: stored.home,
      agentId: stored.address,
      owner: request.owner,
      runtime: request.runtime,
      attention: request.attention ?? { whenActive: 'enqueue' },
      grants: request.grants ?? [],
      runtimeLineageRef: lineageRef(stored.address),
    });
    for (const { type, subject, whenActive, priority } of request.subscriptions ?? []) {
      await addStandingSubscription(tx, {
        home: stored.home,
        tenant: stored.tenant,
        type,
        ...(subject === undefined ? {} : { subject }),
        ...(whenActive === undefined ? {} : { whenActive }),
        ...(priority === undefined ? {} : { priority }),
        ids: { now: gateway.clock.now(), random: (count) => gateway.random.bytes(count) },
      });
    }
    return stored;
  });
  return principal ? { ok: true, principal, recoveryKey: prepared.recoveryKey } : addressTaken(prepared);
}

async function isOwner(sql: Sql, address: string): Promise<boolean> {
  const owner = await principalByAddress(sql, address);
  return owner?.kind === 'human' && (owner.status === 'active' || owner.status === 'created');
}
