-- What crosses domains: peers, quarantine, outbox, receipts, interactions, commitments (requirements D4 to D9, D14, D15).
create schema federation;

create table federation.peers (
  domain text primary key,
  relationship text not null check (relationship in ('pinned', 'stranger', 'blocked')),
  fingerprint text,
  gateway text,
  bundle text,
  bundle_content jsonb,
  bundle_valid_until timestamptz,
  bundle_fetched_at timestamptz,
  refresh_after timestamptz,
  forced_fetch_at timestamptz,
  incarnation text,
  held_reason text,
  last_error text,
  last_error_at timestamptz,
  created_at timestamptz not null default hearth_now(),
  updated_at timestamptz not null default hearth_now(),
  check ((relationship = 'pinned') <= (fingerprint is not null)),
  check ((bundle is not null) = (bundle_content is not null and gateway is not null and bundle_valid_until is not null))
);
create index peers_strangers on federation.peers (updated_at) where relationship = 'stranger';
comment on table federation.peers is 'Domains known here: pinned by fingerprint, strangers whose key was once looked up (at most 1,000), blocked. bundle is kept as received, bundle_content is what was verified of it. held_reason: a bundle without continuity waits for the operator.';

create table federation.peer_deliveries (
  peer text primary key,
  last_position bigint not null default 0,
  failures integer not null default 0,
  failing_since timestamptz,
  next_attempt_at timestamptz not null default hearth_now(),
  early_probe_at timestamptz,
  claim text,
  claimed_until timestamptz,
  last_success_at timestamptz,
  last_error text,
  last_error_at timestamptz
);
comment on table federation.peer_deliveries is 'One row per destination: its outbox numbering, back-off and the claim of the process that delivers now.';

create table federation.outbox_items (
  peer text not null,
  position bigint not null,
  home text not null,
  message_id text not null,
  sender text not null,
  recipients text[] not null,
  conversation_id text not null,
  effect_id text not null,
  header bytea not null,
  signature text not null,
  body bytea not null,
  status text not null check (status in ('queued', 'delivered', 'parked', 'rejected', 'dead')),
  attempt integer not null default 0,
  not_before timestamptz,
  reason_code text,
  queued_at timestamptz not null default hearth_now(),
  dead_at timestamptz not null,
  settled_at timestamptz,
  primary key (peer, position),
  constraint outbox_items_message_unique unique (peer, message_id),
  check ((status in ('delivered', 'rejected', 'dead')) = (settled_at is not null))
);
create index outbox_items_queued on federation.outbox_items (peer, position) where status = 'queued';
create index outbox_items_undecided on federation.outbox_items (dead_at) where status in ('queued', 'parked');
create index outbox_items_by_home on federation.outbox_items (home, queued_at);
comment on table federation.outbox_items is 'Durable outbox: a signed envelope for one destination, kept with its attempts and end until retention. dead_at is the envelope''s expiry or 5 days after queueing, whichever comes first; not_before holds a conversation back when the peer asked for it.';

create table federation.inbound_transactions (
  peer text not null,
  transaction_id text not null,
  body_digest text not null,
  results jsonb,
  answer bytea,
  claim text,
  claimed_until timestamptz,
  received_at timestamptz not null default hearth_now(),
  primary key (peer, transaction_id),
  check ((answer is not null) <= (results is not null))
);
create index inbound_transactions_by_time on federation.inbound_transactions (received_at);
comment on table federation.inbound_transactions is 'A repeat of (peer, id) gets the stored answer; another body under the id is refused. results commit with the messages, answer is them signed. Kept 7 days.';

create table federation.request_nonces (
  peer text not null,
  nonce text not null,
  expires_at timestamptz not null,
  primary key (peer, nonce)
);
create index request_nonces_by_expiry on federation.request_nonces (expires_at);
comment on table federation.request_nonces is 'Nonces of verified requests, remembered for twice the signature window.';

create table federation.quarantine_items (
  peer text not null,
  message_id text not null,
  recipient text not null,
  sender text not null,
  header bytea not null,
  signature text not null,
  body bytea not null,
  bytes integer not null,
  received_at timestamptz not null default hearth_now(),
  expires_at timestamptz not null,
  primary key (peer, sender, message_id, recipient)
);
create index quarantine_items_by_expiry on federation.quarantine_items (expires_at);
comment on table federation.quarantine_items is 'Parked: verified in origin but not admitted. Bounded in count, bytes and age, per origin and overall; wakes nobody.';

create table federation.transaction_receipts (
  peer text not null,
  transaction_id text not null,
  direction text not null check (direction in ('issued', 'received')),
  token text not null,
  stored_at timestamptz not null default hearth_now(),
  primary key (peer, transaction_id, direction)
);
comment on table federation.transaction_receipts is 'Signed receipts over whole transactions, as tokens; federation.receipts names what each says of one message and recipient.';

create table federation.receipts (
  home text not null,
  receipt_id text not null,
  direction text not null check (direction in ('issued', 'received')),
  type text not null,
  issuer text not null,
  subject_ref text not null,
  subject_digest text not null,
  recipient text not null,
  code text,
  peer text not null,
  transaction_id text not null,
  stored_at timestamptz not null default hearth_now(),
  primary key (home, direction, receipt_id)
);
create index receipts_by_subject on federation.receipts (home, subject_ref);
comment on table federation.receipts is 'What signed receipts, issued and received, say of one message each. Each type states one layer and implies no other; the token is in transaction_receipts.';

create table federation.conversation_heads (
  home text not null,
  conversation_id text not null,
  destination text not null,
  last_message_id text not null,
  primary key (home, conversation_id, destination)
);
comment on table federation.conversation_heads is 'The last message a principal of ours sent in a conversation to a destination: what prev names.';

create table federation.interactions (
  home text not null,
  message_id text not null,
  direction text not null check (direction in ('in', 'out')),
  interaction_type text not null,
  sender text not null,
  recipients text[] not null,
  conversation_id text not null,
  correlation_id text,
  causation_id text,
  commitment_id text,
  effect_id text,
  body_digest text not null,
  prev text not null,
  issued_at timestamptz not null,
  stored_at timestamptz not null default hearth_now(),
  primary key (home, direction, sender, message_id)
);
create index interactions_by_commitment on federation.interactions (home, commitment_id) where commitment_id is not null;
comment on table federation.interactions is 'Typed interactions sent and received; free text never becomes one.';

create table federation.commitments (
  home text not null,
  commitment_id text not null,
  conversation_id text not null,
  proposal_id text not null,
  proposal_version integer not null,
  proposal_digest text not null,
  debtor text not null,
  creditor text not null,
  content jsonb not null,
  deadline timestamptz,
  local_assessment text not null check (local_assessment in ('proposed', 'active', 'rejected', 'reported', 'overdue', 'canceled', 'fulfilled', 'disputed', 'violated')),
  created_from_interaction text not null,
  transition_count integer not null default 0,
  created_at timestamptz not null default hearth_now(),
  updated_at timestamptz not null default hearth_now(),
  primary key (home, commitment_id)
);
create index commitments_by_id on federation.commitments (commitment_id);
comment on table federation.commitments is 'A promise as one of our principals holds it. local_assessment is the fold of its transitions, written with each of them.';

create table federation.commitment_transitions (
  home text not null,
  commitment_id text not null,
  position integer not null,
  message_id text not null,
  author text not null,
  author_principal_id text not null,
  kind text not null,
  header bytea not null,
  header_digest text not null,
  signature text not null,
  body bytea not null,
  previous text not null,
  certificate text not null,
  issued_at timestamptz not null,
  stored_at timestamptz not null default hearth_now(),
  primary key (home, commitment_id, position),
  constraint commitment_transitions_message_unique unique (home, commitment_id, author, message_id),
  constraint commitment_transitions_chain_unique unique (home, commitment_id, author, previous)
);
comment on table federation.commitment_transitions is 'Append-only log of signed transitions, each the envelope that carried it, hash-linked per author. Never deleted while its commitment stands.';
