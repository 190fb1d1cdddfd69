-- The Foundation: one agent and its world (requirements F1 to F16). Every table that grows starts its keys with home,
-- the tag of the principal it belongs to, so that it can be distributed by it.
create schema foundation;

create table foundation.inputs (
  home text not null,
  id text not null,
  tenant text not null,
  kind text not null check (kind in ('command', 'event', 'context', 'control')),
  type text not null,
  source text not null,
  source_event_id text not null,
  body_digest text not null,
  principal text not null,
  trust_class text not null check (trust_class in ('instruction', 'trusted_fact', 'untrusted_content', 'historical_evidence')),
  subject jsonb,
  target jsonb,
  control jsonb,
  occurred_at timestamptz not null,
  received_at timestamptz not null default hearth_now(),
  correlation_id text,
  causation_id text,
  idempotency_key text,
  data_content_type text not null,
  data jsonb,
  position bigint,
  primary key (home, id),
  constraint inputs_source_event_unique unique (home, source_event_id)
);
create index inputs_unsequenced on foundation.inputs (received_at, id) where position is null;
comment on table foundation.inputs is 'Durable Input Log: every authenticated, valid AgentInput, kept before it is acknowledged. home is the mailbox it came through.';
comment on column foundation.inputs.position is 'Place in its tenant''s log, given after commit by the sequencer; null until then.';
comment on column foundation.inputs.control is 'Set by ingress only, for kind control: verb and authority. Never read from data.';

create table foundation.input_log_heads (
  tenant text primary key,
  position bigint not null default 0,
  resolved_position bigint not null default 0
);
comment on table foundation.input_log_heads is 'Per tenant: the last position given, and the last position whose candidates were decided.';

create table foundation.input_log (
  tenant text not null,
  position bigint not null,
  home text not null,
  input_id text not null,
  type text not null,
  subject text,
  primary key (tenant, position)
);
create index input_log_by_type on foundation.input_log (tenant, type, position);
comment on table foundation.input_log is 'The order in which committed inputs can be read by cursor; kept as long as inputs.';

create table foundation.sessions (
  home text not null,
  id text not null,
  tenant text not null,
  agent text not null,
  state text not null check (state in ('idle', 'active', 'suspended')),
  runtime_id text not null,
  runtime_version text not null,
  runtime_state_ref text,
  active_run_id text,
  forked_from_session_id text,
  created_at timestamptz not null default hearth_now(),
  updated_at timestamptz not null default hearth_now(),
  primary key (home, id),
  check ((state = 'active') = (active_run_id is not null))
);
comment on table foundation.sessions is 'Private execution continuity of one agent: idle, active or suspended, with at most one live run.';

create table foundation.session_keys (
  home text not null,
  key text not null,
  session_id text not null,
  created_at timestamptz not null default hearth_now(),
  primary key (home, key)
);
create index session_keys_by_session on foundation.session_keys (home, session_id);
comment on table foundation.session_keys is 'What leads to a session: a conversation, a subject resource or a correlation id.';

create table foundation.candidates (
  home text not null,
  id text not null,
  tenant text not null,
  position bigint not null,
  input_home text not null,
  input_id text not null,
  route text not null,
  session_id text,
  decision text not null check (decision in ('IGNORE', 'PROJECT', 'ACTIVATE', 'ENQUEUE', 'STEER', 'INTERRUPT', 'FORK', 'RESUME')),
  policy_id text not null,
  reason text not null,
  status text not null check (status in ('settled', 'queued', 'running', 'consumed', 'failed')),
  run_id text,
  attempt integer not null default 0,
  decided_at timestamptz not null default hearth_now(),
  primary key (home, id),
  constraint candidates_route_unique unique (home, input_id, route)
);
create index candidates_lane on foundation.candidates (home, session_id, position) where status = 'queued';
create index candidates_by_run on foundation.candidates (home, run_id) where run_id is not null;
create index candidates_by_input on foundation.candidates (input_id);
comment on table foundation.candidates is 'One row per (input, way it reached an agent): the decision taken, why, and the run that consumes it. A queued row is the session''s pending lane.';

create table foundation.runs (
  home text not null,
  id text not null,
  tenant text not null,
  session_id text not null,
  status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled', 'suspended', 'budget_exceeded')),
  activation_candidate_id text not null,
  resumed_from_run_id text,
  retry_of_run_id text,
  attempt integer not null default 1,
  runtime_id text not null,
  runtime_version text not null,
  holder text,
  placement_lease_id text,
  placement_epoch bigint,
  lease_expires_at timestamptz,
  bundle_digest text,
  model_input_record jsonb,
  input_log_cursor bigint not null,
  event_cursor bigint not null default 0,
  control_cursor bigint not null default 0,
  reason_code text,
  result jsonb,
  created_at timestamptz not null default hearth_now(),
  started_at timestamptz,
  ended_at timestamptz,
  primary key (home, id),
  check ((status in ('queued', 'running')) = (ended_at is null)),
  check ((status = 'running') <= (holder is not null and placement_epoch is not null and lease_expires_at is not null))
);
create index runs_queued on foundation.runs (created_at, id) where status = 'queued';
create index runs_running on foundation.runs (lease_expires_at) where status = 'running';
create index runs_by_session on foundation.runs (home, session_id, created_at);
comment on table foundation.runs is 'One activation attempt each: queued, running, then exactly one end state with its reason; an ended run never runs again.';

create table foundation.run_events (
  home text not null,
  run_id text not null,
  seq bigint not null,
  type text not null,
  data jsonb not null,
  at timestamptz not null default hearth_now(),
  primary key (home, run_id, seq)
);
comment on table foundation.run_events is 'Append-only events of a run, numbered under the run''s row lock from 1 without holes.';

create table foundation.run_controls (
  home text not null,
  run_id text not null,
  seq bigint not null,
  verb text not null check (verb in ('steer', 'cancel')),
  candidate_id text not null,
  input_home text not null,
  input_id text not null,
  created_at timestamptz not null default hearth_now(),
  delivered_at timestamptz,
  primary key (home, run_id, seq)
);
comment on table foundation.run_controls is 'What was decided for a live run and has to reach the process that holds it.';

create table foundation.context_bundles (
  home text not null,
  digest text not null,
  bytes bytea not null,
  created_at timestamptz not null default hearth_now(),
  primary key (home, digest)
);
comment on table foundation.context_bundles is 'What a runtime was shown, by SHA-256 of the exact canonical bytes.';

create table foundation.runtime_states (
  home text not null,
  ref text not null,
  session_id text not null,
  runtime_id text not null,
  runtime_version text not null,
  state jsonb not null,
  created_at timestamptz not null default hearth_now(),
  primary key (home, ref)
);
comment on table foundation.runtime_states is 'Checkpoints: the runtime''s own state behind a RuntimeStateRef.';

create table foundation.suspensions (
  home text not null,
  id text not null,
  tenant text not null,
  session_id text not null,
  run_id text not null,
  reason text not null,
  runtime_id text not null,
  runtime_version text not null,
  runtime_state_ref text not null,
  input_log_cursor bigint not null,
  resume_policy text not null check (resume_policy in ('first_match')),
  status text not null check (status in ('open', 'consumed', 'cancelled')),
  replayed_at timestamptz,
  continuation_run_id text,
  created_at timestamptz not null default hearth_now(),
  primary key (home, id),
  constraint suspensions_run_unique unique (home, run_id),
  check ((status = 'consumed') <= (continuation_run_id is not null))
);
create unique index suspensions_open_session on foundation.suspensions (home, session_id) where status = 'open';
create index suspensions_unreplayed on foundation.suspensions (created_at) where status = 'open' and replayed_at is null;
comment on table foundation.suspensions is 'A run''s declared wait: open until the first match is consumed in the commit that creates the continuation run.';

create table foundation.subscriptions (
  home text not null,
  id text not null,
  tenant text not null,
  owner text not null check (owner in ('agent', 'suspension')),
  suspension_id text,
  session_id text,
  type text not null,
  subject text,
  when_active text check (when_active in ('enqueue', 'steer', 'fork', 'project')),
  status text not null check (status in ('active', 'ended')),
  expires_at timestamptz,
  created_at timestamptz not null default hearth_now(),
  primary key (home, id),
  check ((owner = 'suspension') = (suspension_id is not null and session_id is not null))
);
create index subscriptions_match on foundation.subscriptions (tenant, type, subject) where status = 'active';
create index subscriptions_by_suspension on foundation.subscriptions (home, suspension_id) where suspension_id is not null;
comment on table foundation.subscriptions is 'Which inputs concern an agent (owner agent, repeat) or a suspension (owner suspension, once). A null subject matches any; a type ending in .* matches by prefix.';

create table foundation.environment_states (
  home text not null,
  resource text not null,
  version bigint not null,
  state jsonb not null,
  trust_class text not null,
  input_id text,
  updated_at timestamptz not null default hearth_now(),
  primary key (home, resource)
);
comment on table foundation.environment_states is 'Versioned domain state as an agent''s environment knows it; PROJECT and environment writes advance the version.';

create table foundation.effects (
  home text not null,
  effect_id text not null,
  operation_id text not null,
  tenant text not null,
  proposal_scope text not null,
  proposal_id text not null,
  proposal_digest text not null,
  run_id text,
  session_id text,
  actor_id text not null,
  target text not null,
  action text not null,
  request jsonb not null,
  idempotency_key text not null,
  authorization_decision jsonb not null,
  placement_lease_id text,
  placement_epoch bigint,
  status text not null check (status in ('pending', 'dispatching', 'succeeded', 'failed', 'unknown')),
  attempt integer not null default 0,
  claimed_until timestamptz,
  reason_code text,
  result jsonb,
  result_ref text,
  created_at timestamptz not null default hearth_now(),
  dispatched_at timestamptz,
  settled_at timestamptz,
  primary key (home, effect_id),
  constraint effects_proposal_unique unique (home, proposal_scope, proposal_id),
  constraint effects_idempotency_unique unique (home, idempotency_key),
  check ((status in ('succeeded', 'failed')) <= (settled_at is not null))
);
create index effects_open on foundation.effects (claimed_until) where status in ('pending', 'dispatching', 'unknown');
create index effects_by_run on foundation.effects (home, run_id) where run_id is not null;
comment on table foundation.effects is 'EffectRecord, owned by the Environment: the intent is committed as pending before anything is dispatched.';

create table foundation.audit_entries (
  home text not null,
  id text not null,
  at timestamptz not null default hearth_now(),
  actor text not null,
  action text not null,
  object text not null,
  outcome text not null,
  details jsonb not null default '{}',
  primary key (home, id)
);
create index audit_entries_by_time on foundation.audit_entries (at);
comment on table foundation.audit_entries is 'Who decided what about which object, written in the transaction that did it. Append only.';
