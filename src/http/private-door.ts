// The private door: people, producers and operators of this domain, each with a bearer token.
import type { Gateway } from '../federation/index.js';
import type { EffectGateway, RuntimeRegistry } from '../foundation/index.js';
import { type InputDoor, openInputDoor } from './accept-at-door.js';
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
import { postAgentEnd, postAgentPause, postAgentResume } from './admin-api/post-agent-status.js';
import { postCredential } from './admin-api/post-credential.js';
import { postCredentialRevoke } from './admin-api/post-credential-revoke.js';
import { postHuman } from './admin-api/post-human.js';
import { postPeer } from './admin-api/post-peer.js';
import { postPeerBlock } from './admin-api/post-peer-block.js';
import { postSource } from './admin-api/post-source.js';
import { postSubscription } from './admin-api/post-subscription.js';
import { deleteSchedule } from './agent-api/delete-schedule.js';
import { getAudit } from './agent-api/get-audit.js';
import { getCommitment } from './agent-api/get-commitment.js';
import { getCommitments } from './agent-api/get-commitments.js';
import { getConversation } from './agent-api/get-conversation.js';
import { getDispositions } from './agent-api/get-dispositions.js';
import { getInput } from './agent-api/get-input.js';
import { getInputs } from './agent-api/get-inputs.js';
import { getMessages } from './agent-api/get-messages.js';
import { getRun } from './agent-api/get-run.js';
import { getRunEvents } from './agent-api/get-run-events.js';
import { getRuns } from './agent-api/get-runs.js';
import { getSchedule } from './agent-api/get-schedule.js';
import { getSchedules } from './agent-api/get-schedules.js';
import { getSession } from './agent-api/get-session.js';
import { getSessions } from './agent-api/get-sessions.js';
import { getWhoami } from './agent-api/get-whoami.js';
import { postControl } from './agent-api/post-control.js';
import { postInput } from './agent-api/post-input.js';
import { postMessage } from './agent-api/post-message.js';
import { postSchedule } from './agent-api/post-schedule.js';
import { runStreams } from './agent-api/stream-run-events.js';
import { getDocs, getOpenapi } from './docs.js';
import type { Endpoint } from './endpoint.js';
import { getHealth, type Health } from './health.js';
import { type DoorParts, idempotent } from './idempotency/idempotent.js';
import { strictQuery } from './middleware/strict-query.js';

export interface PrivateDoor {
  gateway: Gateway;
  inputs: InputDoor;
  effects: EffectGateway;
  runtimes: RuntimeRegistry;
  urls: () => DoorUrls;
  health: Health;
  /** Aborts when the server drains: open event streams end. */
  closing: AbortSignal;
}

export function privateEndpoints(door: PrivateDoor): Endpoint[] {
  const { gateway } = door;
  // A repeated request finds its endpoint over one transaction instead of the database.
  const over = (parts: DoorParts) => {
    const own = { ...gateway, ...parts };
    return callable({ ...door, gateway: own, inputs: openInputDoor(own) });
  };
  return [
    getHealth(door.health),
    getOpenapi('agent'),
    getDocs('agent'),
    ...callable(door).map((endpoint) => strictQuery(idempotent({ ...gateway, over }, endpoint))),
  ];
}

function callable(door: PrivateDoor): Endpoint[] {
  return [...agentApi(door), ...adminApi(door)];
}

function agentApi({ gateway, inputs, effects, closing }: PrivateDoor): Endpoint[] {
  const { db, wakeups, clock } = gateway;
  const streams = runStreams({ sql: db.sql, wakeups, clock, closing });
  return [
    getWhoami(gateway),
    postInput({ ...gateway, ...inputs }),
    getInputs(gateway),
    getInput(gateway),
    getDispositions(gateway),
    getRuns(gateway),
    getRun(gateway),
    getRunEvents({ ...gateway, streams }),
    postControl({ ...gateway, ...inputs }),
    getSessions(gateway),
    getSession(gateway),
    getAudit(gateway),
    postSchedule(gateway),
    getSchedules(gateway),
    getSchedule(gateway),
    deleteSchedule(gateway),
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
    postAgentEnd(gateway),
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
