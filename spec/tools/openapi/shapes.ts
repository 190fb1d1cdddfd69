// What the doors answer, as schemas: published as components, and held against real answers by a test.
import { z } from 'zod';
import { ruleSchema } from '../../../src/foundation/schedule/schedule.js';
import { PROBLEM_CODES } from '../../../src/protocol/index.js';
import {
  AgentHome,
  AgentMade,
  Credential,
  CredentialMade,
  CredentialRevoked,
  Domain,
  OutboxItem,
  Peer,
  PeerPinned,
  Principal,
  PrincipalMade,
  QuarantineDropped,
  QuarantineItem,
  Source,
  SourceMade,
  Subscription,
  SubscriptionMade,
} from './admin-shapes.js';
import { address, count, instant, json, pageOf, text, timedPageOf } from './scalars.js';

const Problem = z.looseObject({
  type: text,
  title: text,
  status: z.int(),
  code: z.enum(PROBLEM_CODES as unknown as [string, ...string[]]),
  detail: text.optional(),
  action: text,
  request_id: text,
});

const Health = z.strictObject({
  status: z.enum(['ok', 'starting', 'draining', 'down']),
  database: z.enum(['ok', 'down']),
  domain: text,
});

const Accepted = z.strictObject({ input_id: text, duplicate: z.boolean() });

const Directory = pageOf(
  z.strictObject({ address, principal_id: text, kind: z.enum(['agent', 'human', 'service']), display_name: text }),
);

const TransitionLog = z.strictObject({
  commitment_id: text,
  transitions: z.array(
    z.strictObject({ position: count, header: text, signature: text, body: text, certificate: text }),
  ),
  next: count,
});

const Caller = z.strictObject({
  kind: z.enum(['producer', 'person', 'operator']),
  address,
  principal_id: text,
  home: text,
  tenant: text,
  roles: z.array(text),
  source: text.nullish(),
  domain: text,
});

const Disposition = z.strictObject({
  candidate_id: text,
  agent: address.nullable(),
  route: text,
  session_id: text.nullable(),
  decision: text,
  policy_id: text,
  reason: text,
  status: text,
  run_id: text.nullable(),
  decided_at: instant,
});

const Input = z.strictObject({
  id: text,
  kind: z.enum(['command', 'event', 'context', 'control']),
  type: text,
  source: text,
  source_event_id: text,
  subject: json,
  target: json,
  control: json,
  occurred_at: instant,
  received_at: instant,
  correlation_id: text.nullable(),
  causation_id: text.nullable(),
  principal: text,
  trust_class: z.enum(['instruction', 'trusted_fact', 'untrusted_content', 'historical_evidence']),
  data_content_type: text.nullable(),
  data: json,
  resolved: z.boolean(),
  activation_refs: z.array(text),
  run_refs: z.array(text),
  more_dispositions: z.boolean(),
  disposition: z.array(Disposition),
});

const Run = z.strictObject({
  id: text,
  agent: address,
  session_id: text,
  status: text,
  reason_code: text.nullable(),
  attempt: count,
  resumed_from_run_id: text.nullable(),
  retry_of_run_id: text.nullable(),
  activation_input_id: text.nullable(),
  runtime_id: text,
  runtime_version: text.nullable(),
  bundle_digest: text.nullable(),
  result: json,
  event_cursor: count,
  placement_epoch: count.nullable(),
  created_at: instant,
  started_at: instant.nullable(),
  ended_at: instant.nullable(),
});

const session = {
  id: text,
  agent: text,
  state: z.enum(['idle', 'active', 'suspended']),
  active_run_id: text.nullable(),
  forked_from_session_id: text.nullable(),
  runtime_id: text,
  runtime_version: text,
  created_at: instant,
  updated_at: instant,
};

const Schedule = z.strictObject({
  id: text,
  agent: text,
  owner: text,
  key: text.nullable(),
  rule: ruleSchema,
  deliver: z.enum(['command', 'event']),
  catch_up: z.enum(['one', 'none', 'all']),
  session: text.nullable(),
  subject: text.nullable(),
  data: json.nullable(),
  status: z.enum(['active', 'ended', 'cancelled']),
  next_fire_at: instant.nullable(),
  last_slot_at: instant.nullable(),
  fired_count: count,
  ended_reason: text.nullable(),
  created_at: instant,
});

const Session = z.strictObject({
  ...session,
  suspension: z.strictObject({ id: text, reason: text, run_id: text }).nullable(),
  lane: z.array(
    z.strictObject({
      candidate_id: text,
      input_id: text,
      route: text,
      decision: text,
      reason: text,
      decided_at: instant,
    }),
  ),
});

const AuditEntry = z.strictObject({
  id: text,
  at: instant,
  actor: text,
  action: text,
  object: text,
  outcome: text,
  details: json,
});

const RunEvents = z.strictObject({
  items: z.array(z.strictObject({ seq: count, type: text, data: json, at: instant })),
  cursor: text,
  ended: z.boolean(),
});

const Sent = z.strictObject({ effect_id: text, status: text, result: json, reason_code: text.nullable() });

const Message = z.strictObject({
  position: count,
  direction: z.enum(['in', 'out']),
  origin_domain: text,
  sender: text,
  message_id: text,
  conversation_id: text.nullable(),
  interaction_type: text.nullable(),
  content_type: text,
  body: json,
  header_digest: text.nullable(),
  stored_at: instant,
  input_id: text.nullable(),
  receipt_id: text.nullable(),
});

const Mailbox = z.strictObject({ items: z.array(Message), cursor: text, last: count });

const commitment = {
  commitment_id: text,
  conversation_id: text,
  debtor: address,
  creditor: address,
  proposal_id: text,
  proposal_version: count,
  proposal_digest: text,
  content: json,
  deadline: instant.nullable(),
  local_assessment: text,
  transition_count: count,
  created_at: instant,
  updated_at: instant,
};

const Commitment = z.strictObject({
  ...commitment,
  transitions: z.array(
    z.strictObject({
      position: count,
      kind: text,
      author: address,
      message_id: text,
      digest: text,
      body_digest: text,
      stored_at: instant,
    }),
  ),
});

const Conversation = z.strictObject({
  conversation_id: text,
  created_by: address,
  creating_domain: text,
  created_at: instant,
  participants: z.array(address),
  messages: z.array(Message),
  next_cursor: text.nullable(),
});

/** Every answer by its published name. */
export const shapes = {
  Problem,
  Health,
  Accepted,
  Directory,
  TransitionLog,
  Caller,
  Input,
  Inputs: timedPageOf(Input),
  Dispositions: pageOf(Disposition),
  Run,
  Runs: timedPageOf(Run),
  Session,
  Sessions: timedPageOf(z.strictObject(session)),
  Schedule,
  Schedules: pageOf(Schedule),
  Audit: timedPageOf(AuditEntry),
  RunEvents,
  Sent,
  Mailbox,
  Commitment,
  Commitments: pageOf(z.strictObject(commitment)),
  Conversation,
  Principals: pageOf(Principal),
  PrincipalMade,
  Domain,
  AgentHome,
  AgentHomes: pageOf(AgentHome),
  AgentMade,
  SubscriptionMade,
  Subscriptions: pageOf(Subscription),
  SourceMade,
  Sources: pageOf(Source),
  CredentialMade,
  Credentials: pageOf(Credential),
  CredentialRevoked,
  Peer,
  Peers: pageOf(Peer),
  PeerPinned,
  OutboxItem,
  Outbox: pageOf(OutboxItem),
  Quarantine: pageOf(QuarantineItem),
  QuarantineDropped,
} as const satisfies Record<string, z.ZodType>;

export type ShapeName = keyof typeof shapes;
