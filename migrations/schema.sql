schema federation
schema foundation
schema home

table federation.commitment_transitions
  home text not null
  commitment_id text not null
  position integer not null
  message_id text not null
  author text not null
  author_principal_id text not null
  kind text not null
  header bytea not null
  header_digest text not null
  signature text not null
  body bytea not null
  previous text not null
  certificate text not null
  issued_at timestamp with time zone not null
  stored_at timestamp with time zone not null default hearth_now()
  constraint commitment_transitions_pkey PRIMARY KEY (home, commitment_id, "position")
  constraint commitment_transitions_chain_unique UNIQUE (home, commitment_id, author, previous)
  constraint commitment_transitions_message_unique UNIQUE (home, commitment_id, author, message_id)

table federation.commitments
  home text not null
  commitment_id text not null
  conversation_id text not null
  proposal_id text not null
  proposal_version integer not null
  proposal_digest text not null
  debtor text not null
  creditor text not null
  content jsonb not null
  deadline timestamp with time zone
  local_assessment text not null
  created_from_interaction text not null
  transition_count integer not null default 0
  created_at timestamp with time zone not null default hearth_now()
  updated_at timestamp with time zone not null default hearth_now()
  constraint commitments_local_assessment_check CHECK ((local_assessment = ANY (ARRAY['proposed'::text, 'active'::text, 'rejected'::text, 'reported'::text, 'overdue'::text, 'canceled'::text, 'fulfilled'::text, 'disputed'::text, 'violated'::text])))
  constraint commitments_pkey PRIMARY KEY (home, commitment_id)
  CREATE INDEX commitments_by_id ON federation.commitments USING btree (commitment_id)

table federation.conversation_heads
  home text not null
  conversation_id text not null
  destination text not null
  last_message_id text not null
  constraint conversation_heads_pkey PRIMARY KEY (home, conversation_id, destination)

table federation.inbound_transactions
  peer text not null
  transaction_id text not null
  body_digest text not null
  results jsonb
  answer text
  claim text
  claimed_until timestamp with time zone
  received_at timestamp with time zone not null default hearth_now()
  constraint inbound_transactions_check CHECK (((answer IS NOT NULL) <= (results IS NOT NULL)))
  constraint inbound_transactions_pkey PRIMARY KEY (peer, transaction_id)
  CREATE INDEX inbound_transactions_by_time ON federation.inbound_transactions USING btree (received_at)

table federation.outbox_items
  peer text not null
  position bigint not null
  home text not null
  message_id text not null
  sender text not null
  recipients text[] not null
  conversation_id text not null
  effect_id text not null
  header bytea not null
  signature text not null
  body bytea not null
  status text not null
  attempt integer not null default 0
  not_before timestamp with time zone
  reason_code text
  queued_at timestamp with time zone not null default hearth_now()
  dead_at timestamp with time zone not null
  settled_at timestamp with time zone
  constraint outbox_items_check CHECK (((status = ANY (ARRAY['delivered'::text, 'rejected'::text, 'dead'::text])) = (settled_at IS NOT NULL)))
  constraint outbox_items_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'delivered'::text, 'parked'::text, 'rejected'::text, 'dead'::text])))
  constraint outbox_items_pkey PRIMARY KEY (peer, "position")
  constraint outbox_items_message_unique UNIQUE (peer, message_id)
  CREATE INDEX outbox_items_by_home ON federation.outbox_items USING btree (home, queued_at)
  CREATE INDEX outbox_items_held ON federation.outbox_items USING btree (peer, conversation_id, "position") WHERE ((status = 'queued'::text) AND (not_before IS NOT NULL))
  CREATE INDEX outbox_items_queued ON federation.outbox_items USING btree (peer, "position") WHERE (status = 'queued'::text)
  CREATE INDEX outbox_items_undecided ON federation.outbox_items USING btree (dead_at) WHERE (status = ANY (ARRAY['queued'::text, 'parked'::text]))

table federation.peer_deliveries
  peer text not null
  last_position bigint not null default 0
  failures integer not null default 0
  failing_since timestamp with time zone
  next_attempt_at timestamp with time zone not null default hearth_now()
  early_probe_at timestamp with time zone
  claim text
  claimed_until timestamp with time zone
  last_success_at timestamp with time zone
  last_error text
  last_error_at timestamp with time zone
  constraint peer_deliveries_pkey PRIMARY KEY (peer)

table federation.peers
  domain text not null
  relationship text not null
  fingerprint text
  gateway text
  bundle text
  bundle_content jsonb
  bundle_valid_until timestamp with time zone
  bundle_fetched_at timestamp with time zone
  refresh_after timestamp with time zone
  forced_fetch_at timestamp with time zone
  incarnation text
  held_reason text
  last_error text
  last_error_at timestamp with time zone
  created_at timestamp with time zone not null default hearth_now()
  updated_at timestamp with time zone not null default hearth_now()
  receiver_limits jsonb
  constraint peers_check CHECK (((relationship = 'pinned'::text) <= (fingerprint IS NOT NULL)))
  constraint peers_check1 CHECK (((bundle IS NOT NULL) = ((bundle_content IS NOT NULL) AND (gateway IS NOT NULL) AND (bundle_valid_until IS NOT NULL))))
  constraint peers_relationship_check CHECK ((relationship = ANY (ARRAY['pinned'::text, 'stranger'::text, 'blocked'::text])))
  constraint peers_pkey PRIMARY KEY (domain)
  CREATE INDEX peers_strangers ON federation.peers USING btree (updated_at) WHERE (relationship = 'stranger'::text)

table federation.quarantine_items
  peer text not null
  message_id text not null
  recipient text not null
  sender text not null
  header bytea not null
  signature text not null
  body bytea not null
  bytes integer not null
  received_at timestamp with time zone not null default hearth_now()
  expires_at timestamp with time zone not null
  constraint quarantine_items_pkey PRIMARY KEY (peer, sender, message_id, recipient)
  CREATE INDEX quarantine_items_by_expiry ON federation.quarantine_items USING btree (expires_at)

table federation.receipts
  home text not null
  receipt_id text not null
  direction text not null
  type text not null
  issuer text not null
  subject_ref text not null
  subject_digest text not null
  recipient text not null
  code text
  peer text not null
  transaction_id text not null
  stored_at timestamp with time zone not null default hearth_now()
  constraint receipts_direction_check CHECK ((direction = ANY (ARRAY['issued'::text, 'received'::text])))
  constraint receipts_pkey PRIMARY KEY (home, direction, receipt_id)
  CREATE INDEX receipts_by_subject ON federation.receipts USING btree (home, subject_ref)

table federation.request_nonces
  peer text not null
  nonce text not null
  expires_at timestamp with time zone not null
  constraint request_nonces_pkey PRIMARY KEY (peer, nonce)
  CREATE INDEX request_nonces_by_expiry ON federation.request_nonces USING btree (expires_at)

table federation.transaction_receipts
  peer text not null
  transaction_id text not null
  direction text not null
  token text not null
  stored_at timestamp with time zone not null default hearth_now()
  constraint transaction_receipts_direction_check CHECK ((direction = ANY (ARRAY['issued'::text, 'received'::text])))
  constraint transaction_receipts_pkey PRIMARY KEY (peer, transaction_id, direction)

table foundation.audit_entries
  home text not null
  id text not null
  at timestamp with time zone not null default hearth_now()
  actor text not null
  action text not null
  object text not null
  outcome text not null
  details jsonb not null default '{}'::jsonb
  constraint audit_entries_pkey PRIMARY KEY (home, id)
  CREATE INDEX audit_entries_by_home ON foundation.audit_entries USING btree (home, at, id)
  CREATE INDEX audit_entries_by_time ON foundation.audit_entries USING btree (at)

table foundation.candidates
  home text not null
  id text not null
  tenant text not null
  position bigint not null
  input_home text not null
  input_id text not null
  route text not null
  session_id text
  decision text not null
  policy_id text not null
  reason text not null
  status text not null
  run_id text
  attempt integer not null default 0
  decided_at timestamp with time zone not null default hearth_now()
  attention jsonb
  lane_rank smallint not null default 0
  merge_key text
  not_before timestamp with time zone
  merged_into text
  merged_count integer not null default 0
  constraint candidates_decision_check CHECK ((decision = ANY (ARRAY['IGNORE'::text, 'PROJECT'::text, 'ACTIVATE'::text, 'ENQUEUE'::text, 'STEER'::text, 'INTERRUPT'::text, 'FORK'::text, 'RESUME'::text])))
  constraint candidates_status_check CHECK ((status = ANY (ARRAY['settled'::text, 'queued'::text, 'running'::text, 'consumed'::text, 'failed'::text])))
  constraint candidates_pkey PRIMARY KEY (home, id)
  constraint candidates_route_unique UNIQUE (home, input_id, route)
  CREATE INDEX candidates_by_input ON foundation.candidates USING btree (input_id, id)
  CREATE INDEX candidates_by_run ON foundation.candidates USING btree (home, run_id) WHERE (run_id IS NOT NULL)
  CREATE INDEX candidates_lane ON foundation.candidates USING btree (home, session_id, "position") WHERE (status = 'queued'::text)
  CREATE INDEX candidates_lane_rank ON foundation.candidates USING btree (home, session_id, lane_rank, "position", id) WHERE (status = 'queued'::text)
  CREATE INDEX candidates_merged ON foundation.candidates USING btree (home, merged_into) WHERE (merged_into IS NOT NULL)
  CREATE INDEX candidates_woken ON foundation.candidates USING btree (home, decided_at) WHERE ((attention ->> 'verdict'::text) = 'wake'::text)

table foundation.context_bundles
  home text not null
  digest text not null
  bytes bytea not null
  created_at timestamp with time zone not null default hearth_now()
  constraint context_bundles_pkey PRIMARY KEY (home, digest)

table foundation.effects
  home text not null
  effect_id text not null
  operation_id text not null
  tenant text not null
  proposal_scope text not null
  proposal_id text not null
  proposal_digest text not null
  run_id text
  session_id text
  actor_id text not null
  target text not null
  action text not null
  request jsonb not null
  idempotency_key text not null
  authorization_decision jsonb not null
  placement_lease_id text
  placement_epoch bigint
  status text not null
  attempt integer not null default 0
  claimed_until timestamp with time zone
  reason_code text
  result jsonb
  result_ref text
  created_at timestamp with time zone not null default hearth_now()
  dispatched_at timestamp with time zone
  settled_at timestamp with time zone
  constraint effects_check CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text])) <= (settled_at IS NOT NULL)))
  constraint effects_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'dispatching'::text, 'succeeded'::text, 'failed'::text, 'unknown'::text])))
  constraint effects_pkey PRIMARY KEY (home, effect_id)
  constraint effects_idempotency_unique UNIQUE (home, idempotency_key)
  constraint effects_proposal_unique UNIQUE (home, proposal_scope, proposal_id)
  CREATE INDEX effects_by_run ON foundation.effects USING btree (home, run_id) WHERE (run_id IS NOT NULL)
  CREATE INDEX effects_open ON foundation.effects USING btree (claimed_until) WHERE (status = ANY (ARRAY['pending'::text, 'dispatching'::text, 'unknown'::text]))

table foundation.embedded_placements
  home text not null
  placement_lease_id text not null
  placement_epoch bigint not null
  holder text not null
  expires_at timestamp with time zone not null
  wanted_by text
  wanted_until timestamp with time zone
  constraint embedded_placements_check CHECK (((wanted_by IS NULL) = (wanted_until IS NULL)))
  constraint embedded_placements_pkey PRIMARY KEY (home)
  CREATE INDEX embedded_placements_by_holder ON foundation.embedded_placements USING btree (holder)

table foundation.environment_states
  home text not null
  resource text not null
  version bigint not null
  state jsonb not null
  trust_class text not null
  input_id text
  updated_at timestamp with time zone not null default hearth_now()
  constraint environment_states_pkey PRIMARY KEY (home, resource)

table foundation.input_log
  tenant text not null
  position bigint not null
  home text not null
  input_id text not null
  type text not null
  subject text
  constraint input_log_pkey PRIMARY KEY (tenant, "position")
  CREATE INDEX input_log_by_subject ON foundation.input_log USING btree (tenant, type, subject, "position") WHERE (subject IS NOT NULL)
  CREATE INDEX input_log_by_type ON foundation.input_log USING btree (tenant, type, "position")

table foundation.input_log_heads
  tenant text not null
  position bigint not null default 0
  resolved_position bigint not null default 0
  fan_out_after jsonb
  fan_out_count integer not null default 0
  constraint input_log_heads_pkey PRIMARY KEY (tenant)

table foundation.inputs
  home text not null
  id text not null
  tenant text not null
  kind text not null
  type text not null
  source text not null
  source_event_id text not null
  body_digest text not null
  principal text not null
  trust_class text not null
  subject jsonb
  target jsonb
  control jsonb
  occurred_at timestamp with time zone not null
  received_at timestamp with time zone not null default hearth_now()
  correlation_id text
  causation_id text
  idempotency_key text
  data_content_type text not null
  data jsonb
  position bigint
  relationship text not null default 'known'::text
  due_at timestamp with time zone
  priority text not null default 'normal'::text
  constraint inputs_kind_check CHECK ((kind = ANY (ARRAY['command'::text, 'event'::text, 'context'::text, 'control'::text])))
  constraint inputs_priority_check CHECK ((priority = ANY (ARRAY['urgent'::text, 'normal'::text, 'bulk'::text])))
  constraint inputs_relationship_check CHECK ((relationship = ANY (ARRAY['own'::text, 'known'::text, 'stranger'::text])))
  constraint inputs_trust_class_check CHECK ((trust_class = ANY (ARRAY['instruction'::text, 'trusted_fact'::text, 'untrusted_content'::text, 'historical_evidence'::text])))
  constraint inputs_pkey PRIMARY KEY (home, id)
  constraint inputs_source_event_unique UNIQUE (home, source_event_id)
  CREATE INDEX inputs_by_idempotency ON foundation.inputs USING btree (tenant, idempotency_key) WHERE (idempotency_key IS NOT NULL)
  CREATE INDEX inputs_by_time ON foundation.inputs USING btree (tenant, received_at, id)
  CREATE INDEX inputs_unsequenced ON foundation.inputs USING btree (received_at, id) WHERE ("position" IS NULL)

table foundation.lease_clock
  one boolean not null default true
  at timestamp with time zone not null
  constraint lease_clock_one_check CHECK (one)
  constraint lease_clock_pkey PRIMARY KEY (one)

table foundation.run_controls
  home text not null
  run_id text not null
  seq bigint not null
  verb text not null
  candidate_id text not null
  input_home text not null
  input_id text not null
  created_at timestamp with time zone not null default hearth_now()
  delivered_at timestamp with time zone
  constraint run_controls_verb_check CHECK ((verb = ANY (ARRAY['steer'::text, 'cancel'::text])))
  constraint run_controls_pkey PRIMARY KEY (home, run_id, seq)

table foundation.run_events
  home text not null
  run_id text not null
  seq bigint not null
  type text not null
  data jsonb not null
  at timestamp with time zone not null default hearth_now()
  constraint run_events_pkey PRIMARY KEY (home, run_id, seq)

table foundation.runs
  home text not null
  id text not null
  tenant text not null
  session_id text not null
  status text not null
  activation_candidate_id text not null
  resumed_from_run_id text
  retry_of_run_id text
  attempt integer not null default 1
  runtime_id text not null
  runtime_version text not null
  holder text
  placement_lease_id text
  placement_epoch bigint
  lease_expires_at timestamp with time zone
  bundle_digest text
  model_input_record jsonb
  input_log_cursor bigint not null
  event_cursor bigint not null default 0
  control_cursor bigint not null default 0
  reason_code text
  result jsonb
  created_at timestamp with time zone not null default hearth_now()
  started_at timestamp with time zone
  ended_at timestamp with time zone
  reap_faults integer not null default 0
  reap_after timestamp with time zone
  constraint runs_check CHECK (((status = ANY (ARRAY['queued'::text, 'running'::text])) = (ended_at IS NULL)))
  constraint runs_check1 CHECK (((status = 'running'::text) <= ((holder IS NOT NULL) AND (placement_epoch IS NOT NULL) AND (lease_expires_at IS NOT NULL))))
  constraint runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'suspended'::text, 'budget_exceeded'::text])))
  constraint runs_pkey PRIMARY KEY (home, id)
  CREATE INDEX runs_by_session ON foundation.runs USING btree (home, session_id, created_at)
  CREATE INDEX runs_by_time ON foundation.runs USING btree (tenant, created_at, id)
  CREATE INDEX runs_queued ON foundation.runs USING btree (created_at, id) WHERE (status = 'queued'::text)
  CREATE INDEX runs_running ON foundation.runs USING btree (lease_expires_at) WHERE (status = 'running'::text)

table foundation.runtime_states
  home text not null
  ref text not null
  session_id text not null
  runtime_id text not null
  runtime_version text not null
  state jsonb not null
  created_at timestamp with time zone not null default hearth_now()
  constraint runtime_states_pkey PRIMARY KEY (home, ref)

table foundation.schedules
  home text not null
  id text not null
  tenant text not null
  owner text not null
  trust_class text not null
  key text
  kind text not null
  rule jsonb not null
  deliver text not null
  catch_up text not null
  agent text
  session_id text
  subject text
  data jsonb
  status text not null
  next_fire_at timestamp with time zone
  last_slot_at timestamp with time zone
  fired_count bigint not null default 0
  ended_reason text
  created_at timestamp with time zone not null default hearth_now()
  advanced_at timestamp with time zone not null default hearth_now()
  constraint schedules_catch_up_check CHECK ((catch_up = ANY (ARRAY['one'::text, 'none'::text, 'all'::text])))
  constraint schedules_check CHECK (((status = 'active'::text) = (next_fire_at IS NOT NULL)))
  constraint schedules_deliver_check CHECK ((deliver = ANY (ARRAY['command'::text, 'event'::text])))
  constraint schedules_kind_check CHECK ((kind = ANY (ARRAY['timer'::text, 'cron'::text, 'heartbeat'::text, 'deadline'::text, 'expiry'::text])))
  constraint schedules_status_check CHECK ((status = ANY (ARRAY['active'::text, 'ended'::text, 'cancelled'::text])))
  constraint schedules_pkey PRIMARY KEY (home, id)
  CREATE INDEX schedules_advanced ON foundation.schedules USING btree (advanced_at) WHERE ((status = 'active'::text) AND (kind = ANY (ARRAY['cron'::text, 'heartbeat'::text])))
  CREATE UNIQUE INDEX schedules_by_key ON foundation.schedules USING btree (home, key) WHERE ((key IS NOT NULL) AND (status <> 'cancelled'::text))
  CREATE INDEX schedules_due ON foundation.schedules USING btree (next_fire_at) WHERE (status = 'active'::text)
  CREATE INDEX schedules_of_home ON foundation.schedules USING btree (home) WHERE ((status = 'active'::text) AND (owner <> 'system:expiry'::text))

table foundation.session_keys
  home text not null
  key text not null
  session_id text not null
  created_at timestamp with time zone not null default hearth_now()
  constraint session_keys_pkey PRIMARY KEY (home, key)
  CREATE INDEX session_keys_by_session ON foundation.session_keys USING btree (home, session_id)

table foundation.sessions
  home text not null
  id text not null
  tenant text not null
  agent text not null
  state text not null
  runtime_id text not null
  runtime_version text not null
  runtime_state_ref text
  active_run_id text
  forked_from_session_id text
  created_at timestamp with time zone not null default hearth_now()
  updated_at timestamp with time zone not null default hearth_now()
  lane_due_at timestamp with time zone
  lane_overtakes integer not null default 0
  constraint sessions_check CHECK (((state = 'active'::text) = (active_run_id IS NOT NULL)))
  constraint sessions_lane_due_idle CHECK (((lane_due_at IS NULL) OR (state = 'idle'::text)))
  constraint sessions_state_check CHECK ((state = ANY (ARRAY['idle'::text, 'active'::text, 'suspended'::text])))
  constraint sessions_pkey PRIMARY KEY (home, id)
  CREATE INDEX sessions_by_time ON foundation.sessions USING btree (tenant, created_at, id)
  CREATE INDEX sessions_lane_due ON foundation.sessions USING btree (lane_due_at) WHERE (lane_due_at IS NOT NULL)

table foundation.subscriptions
  home text not null
  id text not null
  tenant text not null
  owner text not null
  suspension_id text
  session_id text
  type text not null
  subject text
  when_active text
  status text not null
  expires_at timestamp with time zone
  created_at timestamp with time zone not null default hearth_now()
  repeat smallint not null default 1
  dedupe text
  priority text not null default 'normal'::text
  constraint subscriptions_check CHECK (((owner = 'suspension'::text) = ((suspension_id IS NOT NULL) AND (session_id IS NOT NULL))))
  constraint subscriptions_owner_check CHECK ((owner = ANY (ARRAY['agent'::text, 'suspension'::text])))
  constraint subscriptions_priority_check CHECK ((priority = ANY (ARRAY['urgent'::text, 'normal'::text, 'bulk'::text])))
  constraint subscriptions_repeat_check CHECK (((repeat >= 1) AND (repeat <= 32)))
  constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'ended'::text])))
  constraint subscriptions_when_active_check CHECK ((when_active = ANY (ARRAY['enqueue'::text, 'steer'::text, 'fork'::text, 'project'::text])))
  constraint subscriptions_pkey PRIMARY KEY (home, id)
  CREATE INDEX subscriptions_by_suspension ON foundation.subscriptions USING btree (home, suspension_id) WHERE (suspension_id IS NOT NULL)
  CREATE INDEX subscriptions_listening ON foundation.subscriptions USING btree (tenant, type, subject, home, id) WHERE ((owner = 'agent'::text) AND (status = 'active'::text))
  CREATE INDEX subscriptions_waiting ON foundation.subscriptions USING btree (tenant, type, subject, home, suspension_id, id) WHERE ((owner = 'suspension'::text) AND (status = 'active'::text))

table foundation.suspension_matches
  home text not null
  suspension_id text not null
  subscription_id text not null
  dedupe_key text not null
  input_home text not null
  input_id text not null
  position bigint not null
  matched_at timestamp with time zone not null default hearth_now()
  constraint suspension_matches_pkey PRIMARY KEY (home, subscription_id, dedupe_key)
  CREATE INDEX suspension_matches_by_suspension ON foundation.suspension_matches USING btree (home, suspension_id, "position")

table foundation.suspensions
  home text not null
  id text not null
  tenant text not null
  session_id text not null
  run_id text not null
  reason text not null
  runtime_id text not null
  runtime_version text not null
  runtime_state_ref text not null
  input_log_cursor bigint not null
  resume_policy text not null
  status text not null
  replayed_at timestamp with time zone
  continuation_run_id text
  created_at timestamp with time zone not null default hearth_now()
  needed smallint not null default 1
  expires_at timestamp with time zone
  due_at timestamp with time zone
  expired_by text
  partly_matched integer not null default 0
  replayed_to bigint
  replay_due_at timestamp with time zone not null default hearth_lease_now()
  replay_faults integer not null default 0
  constraint suspensions_check CHECK (((status = 'consumed'::text) <= (continuation_run_id IS NOT NULL)))
  constraint suspensions_needed_check CHECK (((needed >= 1) AND (needed <= 16)))
  constraint suspensions_resume_policy_check CHECK ((resume_policy = ANY (ARRAY['first_match'::text, 'all'::text, 'any'::text])))
  constraint suspensions_status_check CHECK ((status = ANY (ARRAY['open'::text, 'consumed'::text, 'cancelled'::text])))
  constraint suspensions_pkey PRIMARY KEY (home, id)
  constraint suspensions_run_unique UNIQUE (home, run_id)
  CREATE INDEX suspensions_due ON foundation.suspensions USING btree (due_at) WHERE ((status = 'open'::text) AND (expired_by IS NULL) AND (due_at IS NOT NULL))
  CREATE UNIQUE INDEX suspensions_open_session ON foundation.suspensions USING btree (home, session_id) WHERE (status = 'open'::text)
  CREATE INDEX suspensions_unreplayed ON foundation.suspensions USING btree (replay_due_at) WHERE ((status = 'open'::text) AND (replayed_at IS NULL))

table home.agent_homes
  home text not null
  agent_id text not null
  owner text not null
  runtime_id text not null
  runtime_config jsonb not null
  attention jsonb not null
  capability_grants jsonb not null default '[]'::jsonb
  memory_refs text[] not null default '{}'::text[]
  relationship_refs text[] not null default '{}'::text[]
  environment_refs text[] not null default '{}'::text[]
  commitment_cursor bigint not null default 0
  runtime_lineage_ref text not null
  latest_audit_cursor text
  updated_at timestamp with time zone not null default hearth_now()
  constraint agent_homes_pkey PRIMARY KEY (home)

table home.conversation_participants
  home text not null
  conversation_id text not null
  participant text not null
  joined_at timestamp with time zone not null default hearth_now()
  constraint conversation_participants_pkey PRIMARY KEY (home, conversation_id, participant)

table home.conversations
  home text not null
  conversation_id text not null
  created_by text not null
  creating_domain text not null
  created_at timestamp with time zone not null default hearth_now()
  constraint conversations_pkey PRIMARY KEY (home, conversation_id)

table home.credentials
  id text not null
  token_hash bytea not null
  kind text not null
  home text not null
  tenant text not null
  source text
  label text not null
  expires_at timestamp with time zone
  revoked_at timestamp with time zone
  created_at timestamp with time zone not null default hearth_now()
  constraint credentials_check CHECK (((kind = 'producer'::text) = (source IS NOT NULL)))
  constraint credentials_kind_check CHECK ((kind = ANY (ARRAY['producer'::text, 'person'::text, 'operator'::text])))
  constraint credentials_pkey PRIMARY KEY (id)
  constraint credentials_token_hash_key UNIQUE (token_hash)

table home.domain
  only_row boolean not null default true
  name text not null
  incarnation text not null
  tenant_default text not null default 'default'::text
  key_encryption_key_id text not null
  bundle_sequence bigint not null default 0
  bundle_token text
  bundle_content_digest text
  bundle_issued_at timestamp with time zone
  created_at timestamp with time zone not null default hearth_now()
  cursor_key bytea not null default sha256(convert_to(((gen_random_uuid())::text || (gen_random_uuid())::text), 'UTF8'::name))
  constraint domain_check CHECK (((bundle_sequence > 0) = ((bundle_token IS NOT NULL) AND (bundle_content_digest IS NOT NULL) AND (bundle_issued_at IS NOT NULL))))
  constraint domain_only_row_check CHECK (only_row)
  constraint domain_pkey PRIMARY KEY (only_row)

table home.domain_keys
  kid text not null
  public_jwk jsonb not null
  sealed_private_key bytea not null
  not_before timestamp with time zone not null
  expires_at timestamp with time zone not null
  retired_at timestamp with time zone
  revoked_at timestamp with time zone
  revoked_reason text
  created_at timestamp with time zone not null default hearth_now()
  constraint domain_keys_pkey PRIMARY KEY (kid)

table home.idempotency_keys
  home text not null
  key_digest text not null
  body_digest text not null
  claimed_until timestamp with time zone
  status integer
  answer bytea
  expires_at timestamp with time zone not null
  created_at timestamp with time zone not null default hearth_now()
  constraint idempotency_keys_check CHECK (((answer IS NULL) = (status IS NULL)))
  constraint idempotency_keys_check1 CHECK (((answer IS NULL) = (claimed_until IS NOT NULL)))
  constraint idempotency_keys_pkey PRIMARY KEY (home, key_digest)
  CREATE INDEX idempotency_keys_by_expiry ON home.idempotency_keys USING btree (home, expires_at)

table home.mailbox_messages
  home text not null
  position bigint not null
  direction text not null
  origin_domain text not null
  sender text not null
  message_id text not null
  conversation_id text
  interaction_type text not null
  content_type text not null
  header bytea not null
  header_digest text not null
  body bytea not null
  receipt_id text
  input_id text
  stored_at timestamp with time zone not null default hearth_now()
  constraint mailbox_messages_direction_check CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text])))
  constraint mailbox_messages_pkey PRIMARY KEY (home, "position")
  constraint mailbox_messages_tuple_unique UNIQUE (home, direction, origin_domain, sender, message_id)
  CREATE INDEX mailbox_messages_by_conversation ON home.mailbox_messages USING btree (home, conversation_id, "position") WHERE (conversation_id IS NOT NULL)

table home.mailboxes
  home text not null
  last_position bigint not null default 0
  constraint mailboxes_pkey PRIMARY KEY (home)

table home.placements
  home text not null
  placement_lease_id text not null
  placement_epoch bigint not null
  holder text not null
  expires_at timestamp with time zone not null
  updated_at timestamp with time zone not null default hearth_now()
  wanted_by text
  wanted_until timestamp with time zone
  constraint placements_wanted CHECK (((wanted_by IS NULL) = (wanted_until IS NULL)))
  constraint placements_pkey PRIMARY KEY (home)
  CREATE INDEX placements_by_holder ON home.placements USING btree (holder)

table home.principal_keys
  home text not null
  number integer not null
  key_ref text not null
  public_jwk jsonb not null
  sealed_private_key bytea not null
  not_before timestamp with time zone not null
  expires_at timestamp with time zone not null
  revoked_at timestamp with time zone
  created_at timestamp with time zone not null default hearth_now()
  constraint principal_keys_pkey PRIMARY KEY (home, number)
  constraint principal_keys_ref_unique UNIQUE (home, key_ref)

table home.principals
  home text not null
  principal_id text not null
  address text not null
  kind text not null
  tenant text not null
  display_name text not null
  roles text[] not null default '{}'::text[]
  visibility text not null default 'peers'::text
  status text not null default 'active'::text
  genesis bytea not null
  created_at timestamp with time zone not null default hearth_now()
  constraint principals_kind_check CHECK ((kind = ANY (ARRAY['human'::text, 'agent'::text, 'service'::text])))
  constraint principals_status_check CHECK ((status = ANY (ARRAY['created'::text, 'active'::text, 'paused'::text, 'migrating'::text, 'revoked'::text, 'ended'::text])))
  constraint principals_visibility_check CHECK ((visibility = ANY (ARRAY['public'::text, 'peers'::text, 'hidden'::text])))
  constraint principals_pkey PRIMARY KEY (home)
  constraint principals_address_key UNIQUE (address)
  constraint principals_principal_id_key UNIQUE (principal_id)

table home.webhook_sources
  home text not null
  name text not null
  adapter text not null
  sealed_secret bytea not null
  created_at timestamp with time zone not null default hearth_now()
  constraint webhook_sources_adapter_check CHECK ((adapter = 'github'::text))
  constraint webhook_sources_pkey PRIMARY KEY (home)
  constraint webhook_sources_name_key UNIQUE (name)

table public.hearth_migrations
  name text not null
  checksum text not null
  applied_at timestamp with time zone not null default clock_timestamp()
  constraint hearth_migrations_pkey PRIMARY KEY (name)

function public.hearth_lease_now()
  CREATE OR REPLACE FUNCTION public.hearth_lease_now()
   RETURNS timestamp with time zone
   LANGUAGE sql
   STABLE PARALLEL SAFE
  RETURN (SELECT lease_clock.at FROM foundation.lease_clock)

function public.hearth_now()
  CREATE OR REPLACE FUNCTION public.hearth_now()
   RETURNS timestamp with time zone
   LANGUAGE sql
   STABLE PARALLEL SAFE
  RETURN (statement_timestamp() + ((COALESCE((NULLIF(current_setting('hearth.clock_offset_ms'::text, true), ''::text))::bigint, (0)::bigint))::double precision * '00:00:00.001'::interval))

comment on federation.commitment_transitions: Append-only log of signed transitions, each the envelope that carried it, hash-linked per author. Never deleted while its commitment stands.
comment on federation.commitments: A promise as one of our principals holds it. local_assessment is the fold of its transitions, written with each of them.
comment on federation.conversation_heads: The last message a principal of ours sent in a conversation to a destination: what prev names.
comment on federation.inbound_transactions: A repeat of (peer, id) gets the stored answer; another body under the id is refused. results commit with the messages, answer is them signed. Kept 7 days.
comment on federation.outbox_items: Durable outbox: a signed envelope for one destination, kept with its attempts and end until retention. dead_at is the envelope's expiry or 5 days after queueing, whichever comes first; not_before holds a conversation back when the peer asked for it.
comment on federation.peer_deliveries: One row per destination: its outbox numbering, back-off and the claim of the process that delivers now.
comment on federation.peers: Domains known here: pinned by fingerprint, strangers whose key was once looked up (at most 1,000), blocked. bundle is kept as received, bundle_content is what was verified of it. held_reason: a bundle without continuity waits for the operator.
comment on federation.quarantine_items: Parked: verified in origin but not admitted. Bounded in count, bytes and age, per origin and overall; wakes nobody.
comment on federation.receipts: What signed receipts, issued and received, say of one message each. Each type states one layer and implies no other; the token is in transaction_receipts.
comment on federation.request_nonces: Nonces of verified requests, remembered for twice the signature window.
comment on federation.transaction_receipts: Signed receipts over whole transactions, as tokens; federation.receipts names what each says of one message and recipient.
comment on foundation.audit_entries: Who decided what about which object, written in the transaction that did it. Append only.
comment on foundation.candidates: One row per (input, way it reached an agent): the decision taken, why, and the run that consumes it. A queued row is the session's pending lane.
comment on foundation.candidates.attention: Verdict, policy, reason and weights of the agent's attention, for an event that it listens to.
comment on foundation.candidates.lane_rank: Class in its lane, lowest first; 0 for everything where the agent's lane runs in order of arrival.
comment on foundation.candidates.merge_key: Type and subject of a queued event whose agent merges; neighbours in a lane with the same key become one run.
comment on foundation.candidates.not_before: Until when this event is held at the head of its lane for others to be merged with it.
comment on foundation.candidates.merged_into: The candidate whose run takes this one along; its own status follows that of the run.
comment on foundation.candidates.merged_count: How many others the run of this one takes along.
comment on foundation.context_bundles: What a runtime was shown, by SHA-256 of the exact canonical bytes.
comment on foundation.effects: EffectRecord, owned by the Environment: the intent is committed as pending before anything is dispatched.
comment on foundation.effects.claimed_until: In lease time (hearth_lease_now).
comment on foundation.embedded_placements: Which process acts for an agent in a Foundation that is embedded without homes; the epoch only grows.
comment on foundation.embedded_placements.expires_at: In lease time (hearth_lease_now).
comment on foundation.environment_states: Versioned domain state as an agent's environment knows it; PROJECT and environment writes advance the version.
comment on foundation.input_log: The order in which committed inputs can be read by cursor; kept as long as inputs.
comment on foundation.input_log_heads: Per tenant: the last position given, and the last position whose candidates were decided.
comment on foundation.input_log_heads.fan_out_after: The next input is decided on for a part of whom it concerns: this far. Null before the first part and after the last.
comment on foundation.inputs: Durable Input Log: every authenticated, valid AgentInput, kept before it is acknowledged. home is the mailbox it came through.
comment on foundation.inputs.control: Set by ingress only, for kind control: verb and authority. Never read from data.
comment on foundation.inputs.position: Place in its tenant's log, given in the commit that decides on it; null until then.
comment on foundation.inputs.relationship: Set by ingress only: whether who sent it is of this domain, known to it, or neither. Never read from data.
comment on foundation.inputs.due_at: Set by ingress only: when it is too late for what this is about. Null where nobody knows.
comment on foundation.inputs.priority: Set by ingress only, from the authenticated connection. Never read from data.
comment on foundation.lease_clock: The time by which leases, claims and pauses are told. Living hosts move it on at each heartbeat; it stands still while none lives, and so falls behind the wall clock.
comment on foundation.run_controls: What was decided for a live run and has to reach the process that holds it.
comment on foundation.run_events: Append-only events of a run, numbered under the run's row lock from 1 without holes.
comment on foundation.runs: One activation attempt each: queued, running, then exactly one end state with its reason; an ended run never runs again.
comment on foundation.runs.lease_expires_at: In lease time (hearth_lease_now).
comment on foundation.runs.reap_after: A run whose lease is over and that could not be ended is not tried again before this; reap_faults counts the attempts.
comment on foundation.runtime_states: Checkpoints: the runtime's own state behind a RuntimeStateRef.
comment on foundation.schedules: When an input is to be made (F15). Each slot is fired once, in the commit that moves next_fire_at past it.
comment on foundation.schedules.trust_class: Of the data that it carries: how far whoever made it was trusted then.
comment on foundation.schedules.key: Given by whoever made it: making it again under the same key changes it and adds none.
comment on foundation.schedules.advanced_at: When next_fire_at was computed, by the clock of then.
comment on foundation.session_keys: What leads to a session: a conversation, a subject resource or a correlation id.
comment on foundation.sessions: Private execution continuity of one agent: idle, active or suspended, with at most one live run.
comment on foundation.sessions.lane_due_at: When the held lane of an idle session may start; null when its lane is empty, runs, or waits for a continuation.
comment on foundation.sessions.lane_overtakes: How many runs in a row began before the oldest queued candidate; at the limit the oldest is next.
comment on foundation.subscriptions: Which inputs concern an agent (owner agent, repeat) or a suspension (owner suspension, once). A null subject matches any; a type ending in .* matches by prefix.
comment on foundation.subscriptions.repeat: How many inputs satisfy it; 1 is once. A standing subscription takes any number.
comment on foundation.subscriptions.dedupe: JSON pointer into an input: inputs with the same value there count once. Null: by their source event.
comment on foundation.subscriptions.priority: How much the agent cares, set by who manages the agent; weighed by its attention.
comment on foundation.suspension_matches: Inputs that a wait has counted and that did not satisfy it yet; its continuation is shown them all.
comment on foundation.suspensions: A run's declared wait: open until enough of its subscriptions are satisfied, or it expires; consumed in the commit that creates the continuation run.
comment on foundation.suspensions.needed: How many of its subscriptions have to be satisfied: 1 for first_match, n for any, all of them for all.
comment on foundation.suspensions.due_at: When it expires by itself: at expires_at, or when too few of its subscriptions can still be satisfied.
comment on foundation.suspensions.expired_by: The input suspension.expired that ends it; nothing else is counted any more.
comment on foundation.suspensions.partly_matched: Inputs that were counted without satisfying it.
comment on foundation.suspensions.replayed_to: How far the log has been read again, while that is not finished.
comment on foundation.suspensions.replay_due_at: When the log is to be read again for it; later and later for one that cannot be replayed.
comment on home.agent_homes: The durable self of an agent: who acts. What executes it now is in home.placements.
comment on home.conversation_participants: Who takes part, as known here.
comment on home.conversations: A conversation as one of our principals sees it; the creating domain owns its membership.
comment on home.credentials: Bearer tokens, stored only as SHA-256; each scoped to (tenant, principal, source).
comment on home.domain: The one Federation Domain that this database belongs to; its name is inside every id and never changes.
comment on home.domain.bundle_token: The bundle as signed under bundle_sequence: every process serves these bytes, so that one sequence never has two forms.
comment on home.domain.cursor_key: Authenticates the cursors that lists give out; every process of the domain takes those of the others.
comment on home.domain_keys: Keys that sign for the domain; the private part is sealed under the operator's key encryption key.
comment on home.idempotency_keys: Requests that carried an Idempotency-Key, by caller: being worked on (claimed_until), or done with the sealed answer that a repeat gets.
comment on home.mailbox_messages: What reached or left a principal, bytes as received. The unique tuple is the delivery identity (D5); it is kept at least as long as dedupe memory, 7 days.
comment on home.mailboxes: One mailbox per principal; its row lock numbers the messages.
comment on home.placements: The one authoritative record of which runtime host acts for an agent; the epoch only grows.
comment on home.placements.expires_at: In lease time (hearth_lease_now).
comment on home.placements.wanted_by: The host that asks for this agent; until wanted_until, once it is given back, nobody else takes it.
comment on home.principal_keys: Signing keys of a principal, held in custody for it; they leave only as signatures.
comment on home.principals: Humans, agents and services of this domain. home is the opaque tag that starts every key of what belongs to it; an address is never given twice.
comment on home.webhook_sources: Outside sources that post webhooks: a service principal each, with the sealed secret its signature is checked with.
comment on public.hearth_migrations: Which migrations were applied, with the digest of each file.
