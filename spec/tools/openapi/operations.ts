// What the doors' routes are for and what they answer. What they take comes from the routes themselves.
import type { z } from 'zod';
import { discoverySchema, transactionAnswerSchema } from '../../../src/protocol/index.js';
import type { ShapeName } from './shapes.js';

export interface Operation {
  summary: string;
  description?: string;
  status?: number;
  /** Undefined for an answer without a body. */
  answer?: ShapeName | z.ZodType;
  mediaType?: string;
  /** Headers that the operation reads beside those of its door. */
  headers?: Record<string, string>;
  /** For a body that is not described by the route. */
  body?: { mediaType: string; description: string };
  security?: 'none' | 'signature' | 'optional signature' | 'webhook';
}

const SHARED: Record<string, Operation> = {
  'GET /healthz': { summary: 'Whether the domain lives', answer: 'Health', security: 'none' },
  'GET /openapi.json': {
    summary: 'This description',
    mediaType: 'application/json',
    security: 'none',
  },
  'GET /docs': { summary: 'This description as a page', mediaType: 'text/html', security: 'none' },
};

export const federationOperations: Record<string, Operation> = {
  ...SHARED,
  'GET /.well-known/agent-federation': {
    summary: 'Where the gateway is and what it takes',
    answer: discoverySchema,
    security: 'none',
  },
  'GET /federation/v1/bundle': {
    summary: 'The keys that speak for the domain',
    description: 'A JWS in the general JSON form; its payload follows bundle.json.',
    mediaType: 'application/jose+json',
    security: 'none',
  },
  'GET /federation/v1/directory': {
    summary: 'Who can be found here',
    description: 'A pinned peer that signs sees more than the public.',
    answer: 'Directory',
    security: 'optional signature',
  },
  'PUT /federation/v1/transactions/{id}': {
    summary: 'Take a batch of messages',
    description: 'Idempotent: a repeat gets the first answer.',
    answer: transactionAnswerSchema,
    security: 'signature',
  },
  'GET /federation/v1/commitments/{id}/transitions': {
    summary: 'The log of a commitment, for a domain that takes part in it',
    answer: 'TransitionLog',
    security: 'signature',
  },
  'POST /webhooks/github/{source}': {
    summary: 'Take a delivery of GitHub',
    status: 202,
    answer: 'Accepted',
    headers: { 'X-GitHub-Event': 'The kind of event', 'X-GitHub-Delivery': 'The id of the delivery' },
    body: { mediaType: 'application/json', description: 'The payload as GitHub signed it' },
    security: 'webhook',
  },
};

export const agentOperations: Record<string, Operation> = {
  ...SHARED,
  'GET /v1/whoami': { summary: 'What the credential in hand proves', answer: 'Caller' },
  'POST /v1/inputs': {
    summary: 'Say what happened',
    description: 'Who speaks, for which tenant and how far it is trusted come from the credential.',
    status: 202,
    answer: 'Accepted',
  },
  'GET /v1/inputs': {
    summary: 'Inputs and what was decided on each, the newest first',
    answer: 'Inputs',
  },
  'GET /v1/inputs/{id}': { summary: 'What became of an input', answer: 'Input' },
  'GET /v1/inputs/{id}/dispositions': {
    summary: 'Everything that was decided on an input',
    answer: 'Dispositions',
  },
  'GET /v1/runs': { summary: 'Runs, the newest first', answer: 'Runs' },
  'GET /v1/runs/{id}': { summary: 'A run', answer: 'Run' },
  'GET /v1/runs/{id}/events': {
    summary: 'The events of a run, in pages or as a stream',
    description: 'With Accept: text/event-stream they are streamed until the run has ended.',
    answer: 'RunEvents',
    headers: { 'Last-Event-ID': 'For a stream: the id of the last event that the client has' },
  },
  'GET /v1/sessions': { summary: 'Sessions, the newest first', answer: 'Sessions' },
  'GET /v1/sessions/{id}': { summary: 'A session with the wait it is in and its lane', answer: 'Session' },
  'POST /v1/schedules': { summary: 'Set a time for an agent', status: 201, answer: 'Schedule' },
  'GET /v1/schedules': { summary: 'The schedules of an agent', answer: 'Schedules' },
  'GET /v1/schedules/{id}': { summary: 'A schedule with its next slot', answer: 'Schedule' },
  'DELETE /v1/schedules/{id}': { summary: 'Let no further slot of a schedule come', status: 204 },
  'GET /v1/audit': { summary: 'Who decided what about oneself or an agent, the newest first', answer: 'Audit' },
  'POST /v1/runs/{id}/controls': { summary: 'Control a run', status: 202, answer: 'Accepted' },
  'POST /v1/messages': {
    summary: 'Send a message as oneself',
    status: 202,
    answer: 'Sent',
  },
  'GET /v1/messages': { summary: 'A mailbox as a log, the oldest first', answer: 'Mailbox' },
  'GET /v1/commitments': { summary: 'Commitments, those last changed first', answer: 'Commitments' },
  'GET /v1/commitments/{id}': { summary: 'A commitment with its log', answer: 'Commitment' },
  'GET /v1/conversations/{id}': {
    summary: 'A conversation and its messages, the oldest first',
    answer: 'Conversation',
  },
  'GET /admin/v1/domain': { summary: 'The domain itself', answer: 'Domain' },
  'GET /admin/v1/directory': { summary: 'Every principal, hidden ones too', answer: 'Principals' },
  'POST /admin/v1/humans': { summary: 'Make a person', status: 201, answer: 'PrincipalMade' },
  'GET /admin/v1/humans': { summary: 'People', answer: 'Principals' },
  'POST /admin/v1/agents': { summary: 'Make an agent with its Home', status: 201, answer: 'AgentMade' },
  'GET /admin/v1/agents': { summary: 'Agents: all for an operator, its own for a person', answer: 'AgentHomes' },
  'GET /admin/v1/agents/{name}': { summary: 'An Agent Home', answer: 'AgentHome' },
  'POST /admin/v1/agents/{name}/pause': { summary: 'Pause an agent', answer: 'AgentHome' },
  'POST /admin/v1/agents/{name}/resume': { summary: 'Let an agent go on', answer: 'AgentHome' },
  'POST /admin/v1/agents/{name}/end': { summary: 'End an agent for good', answer: 'AgentHome' },
  'GET /admin/v1/agents/{name}/subscriptions': { summary: 'Standing subscriptions', answer: 'Subscriptions' },
  'POST /admin/v1/agents/{name}/subscriptions': {
    summary: 'Add a standing subscription',
    status: 201,
    answer: 'SubscriptionMade',
  },
  'DELETE /admin/v1/agents/{name}/subscriptions/{id}': { summary: 'End a standing subscription', status: 204 },
  'POST /admin/v1/sources': { summary: 'Make an outside source', status: 201, answer: 'SourceMade' },
  'GET /admin/v1/sources': { summary: 'Outside sources', answer: 'Sources' },
  'POST /admin/v1/credentials': {
    summary: 'Issue a credential; the token is shown once',
    status: 201,
    answer: 'CredentialMade',
  },
  'GET /admin/v1/credentials': { summary: 'Credentials', answer: 'Credentials' },
  'POST /admin/v1/credentials/{id}/revoke': { summary: 'Revoke a credential', answer: 'CredentialRevoked' },
  'POST /admin/v1/peers': {
    summary: 'Pin a domain by its fingerprint',
    description: 'It is pinned in any case; `look` says whether it answers as expected now.',
    status: 201,
    answer: 'PeerPinned',
  },
  'GET /admin/v1/peers': { summary: 'Peers', answer: 'Peers' },
  'GET /admin/v1/peers/{domain}': { summary: 'A peer', answer: 'Peer' },
  'POST /admin/v1/peers/{domain}/block': { summary: 'Block a domain', answer: 'Peer' },
  'GET /admin/v1/outbox': { summary: 'Messages to other domains and where they stand', answer: 'Outbox' },
  'GET /admin/v1/outbox/{peer}/{message}': { summary: 'One of them', answer: 'OutboxItem' },
  'GET /admin/v1/quarantine': {
    summary: 'What domains that nobody pinned have sent: by whom and to whom, never what it says',
    answer: 'Quarantine',
  },
  'DELETE /admin/v1/quarantine/{domain}': {
    summary: 'Throw away what is held of a domain, or one message of it',
    answer: 'QuarantineDropped',
  },
};
