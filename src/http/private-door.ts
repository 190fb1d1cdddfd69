// The private door: people, producers and operators of this domain, each with a bearer token.
import type { Gateway } from '../federation/index.js';
import type { EffectGateway, RuntimeRegistry } from '../foundation/index.js';
import { deleteQuarantine } from './admin-api/delete-quarantine.js';
import { deleteSubscription } from './admin-api/delete-subscription.js';
import { getAgent } from './admin-api/get-agent.js';
import { getAgents } from './admin-api/get-agents.js';
import { getCredentials } from './admin-api/get-credentials.js';
import { getAdminDirectory } from './admin-api/get-directory.js';
import { type DoorUrls, getDomain } from './admin-api/get-domain.js';
import { getHumans } from './admin-api/get-humans.js';
import { getOutbox } from './admin-api/get-outbox.js';
import { getOutboxItem } from './admin-api/get-outbox-item.js';
import { getPeer } from './admin-api/get-peer.js';
import { getPeers } from './admin-api/get-peers.js';
import { getQuarantine } from './admin-api/get-quarantine.js';
import { getSources } from './admin-api/get-sources.js';
import { getSubscriptions } from './admin-api/get-subscriptions.js';
import { postAgent } from './admin-api/post-agent.js';
import { postAgentPause, postAgentResume } from './admin-api/post-agent-status.js';
import { postCredential } from './admin-api/post-credential.js';
import { postCredentialRevoke } from './admin-api/post-credential-revoke.js';
import { postHuman } from './admin-api/post-human.js';
import { postPeer } from './admin-api/post-peer.js';
import { postPeerBlock } from './admin-api/post-peer-block.js';
import { postSource } from './admin-api/post-source.js';
import { postSubscription } from './admin-api/post-subscription.js';
import { getCommitment } from './agent-api/get-commitment.js';
import { getCommitments } from './agent-api/get-commitments.js';
import { getConversation } from './agent-api/get-conversation.js';
import { getInput } from './agent-api/get-input.js';
import { getMessages } from './agent-api/get-messages.js';
import { getRun } from './agent-api/get-run.js';
import { getRunEvents } from './agent-api/get-run-events.js';
import { getRuns } from './agent-api/get-runs.js';
import { getWhoami } from './agent-api/get-whoami.js';
import { postControl } from './agent-api/post-control.js';
import { postInput } from './agent-api/post-input.js';
import { postMessage } from './agent-api/post-message.js';
import { runStreams } from './agent-api/stream-run-events.js';
import { getDocs, getOpenapi } from './docs.js';
import type { Endpoint } from './endpoint.js';
import { getHealth, type Health } from './health.js';

export interface PrivateDoor {
  gateway: Gateway;
  effects: EffectGateway;
  runtimes: RuntimeRegistry;
  urls: () => DoorUrls;
  health: Health;
  /** Aborts when the server drains: open event streams end. */
  closing: AbortSignal;
}

export function privateEndpoints(door: PrivateDoor): Endpoint[] {
  return [getHealth(door.health), getOpenapi('agent'), getDocs('agent'), ...agentApi(door), ...adminApi(door)];
}

function agentApi({ gateway, effects, closing }: PrivateDoor): Endpoint[] {
  const { db, wakeups, clock } = gateway;
  const streams = runStreams({ sql: db.sql, wakeups, clock, closing });
  return [
    getWhoami(gateway),
    postInput(gateway),
    getInput(gateway),
    getRuns(gateway),
    getRun(gateway),
    getRunEvents({ ...gateway, streams }),
    postControl(gateway),
    postMessage(effects),
    getMessages(gateway),
    getCommitments(gateway),
    getCommitment(gateway),
    getConversation(gateway),
  ];
}

function adminApi({ gateway, runtimes, urls }: PrivateDoor): Endpoint[] {
  return [
    getDomain({ ...gateway, urls }),
    getAdminDirectory(gateway),
    postHuman(gateway),
    getHumans(gateway),
    postAgent({ ...gateway, runtimes }),
    getAgents(gateway),
    getAgent(gateway),
    postAgentPause(gateway),
    postAgentResume(gateway),
    getSubscriptions(gateway),
    postSubscription(gateway),
    deleteSubscription(gateway),
    postSource({ ...gateway, urls }),
    getSources({ ...gateway, urls }),
    postCredential(gateway),
    getCredentials(gateway),
    postCredentialRevoke(gateway),
    postPeer(gateway),
    getPeers(gateway),
    getPeer(gateway),
    postPeerBlock(gateway),
    getOutbox(gateway),
    getOutboxItem(gateway),
    getQuarantine(gateway),
    deleteQuarantine(gateway),
  ];
}
