-- A domain's own: principals, homes, keys, credentials, mailboxes, conversations, placement (requirements D1 to D3, D17).
create schema home;

create table home.domain (
  only_row boolean primary key default true check (only_row),
  name text not null,
  incarnation text not null,
  tenant_default text not null default 'default',
  key_encryption_key_id text not null,
  bundle_sequence bigint not null default 0,
  bundle_token text,
  bundle_content_digest text,
  bundle_issued_at timestamptz,
  created_at timestamptz not null default hearth_now(),
  check ((bundle_sequence > 0) = (bundle_token is not null and bundle_content_digest is not null and bundle_issued_at is not null))
);
comment on table home.domain is 'The one Federation Domain that this database belongs to; its name is inside every id and never changes.';
comment on column home.domain.bundle_token is 'The bundle as signed under bundle_sequence: every process serves these bytes, so that one sequence never has two forms.';

create table home.domain_keys (
  kid text primary key,
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  not_before timestamptz not null,
  expires_at timestamptz not null,
  retired_at timestamptz,
  revoked_at timestamptz,
  revoked_reason text,
  created_at timestamptz not null default hearth_now()
);
comment on table home.domain_keys is 'Keys that sign for the domain; the private part is sealed under the operator''s key encryption key.';

create table home.principals (
  home text primary key,
  principal_id text not null unique,
  address text not null unique,
  kind text not null check (kind in ('human', 'agent', 'service')),
  tenant text not null,
  display_name text not null,
  roles text[] not null default '{}',
  visibility text not null default 'peers' check (visibility in ('public', 'peers', 'hidden')),
  status text not null default 'active' check (status in ('created', 'active', 'paused', 'migrating', 'revoked', 'ended')),
  genesis bytea not null,
  created_at timestamptz not null default hearth_now()
);
comment on table home.principals is 'Humans, agents and services of this domain. home is the opaque tag that starts every key of what belongs to it; an address is never given twice.';

create table home.principal_keys (
  home text not null,
  number integer not null,
  key_ref text not null,
  public_jwk jsonb not null,
  sealed_private_key bytea not null,
  not_before timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null default hearth_now(),
  primary key (home, number),
  constraint principal_keys_ref_unique unique (home, key_ref)
);
comment on table home.principal_keys is 'Signing keys of a principal, held in custody for it; they leave only as signatures.';

create table home.agent_homes (
  home text primary key,
  agent_id text not null,
  owner text not null,
  runtime_id text not null,
  runtime_config jsonb not null,
  attention jsonb not null,
  capability_grants jsonb not null default '[]',
  memory_refs text[] not null default '{}',
  relationship_refs text[] not null default '{}',
  environment_refs text[] not null default '{}',
  commitment_cursor bigint not null default 0,
  runtime_lineage_ref text not null,
  latest_audit_cursor text,
  updated_at timestamptz not null default hearth_now()
);
comment on table home.agent_homes is 'The durable self of an agent: who acts. What executes it now is in home.placements.';

create table home.placements (
  home text primary key,
  placement_lease_id text not null,
  placement_epoch bigint not null,
  holder text not null,
  expires_at timestamptz not null,
  updated_at timestamptz not null default hearth_now()
);
create index placements_by_holder on home.placements (holder);
comment on table home.placements is 'The one authoritative record of which runtime host acts for an agent; the epoch only grows.';

create table home.credentials (
  id text primary key,
  token_hash bytea not null unique,
  kind text not null check (kind in ('producer', 'person', 'operator')),
  home text not null,
  tenant text not null,
  source text,
  label text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default hearth_now(),
  check ((kind = 'producer') = (source is not null))
);
comment on table home.credentials is 'Bearer tokens, stored only as SHA-256; each scoped to (tenant, principal, source).';

create table home.webhook_sources (
  home text primary key,
  name text not null unique,
  adapter text not null check (adapter in ('github')),
  sealed_secret bytea not null,
  created_at timestamptz not null default hearth_now()
);
comment on table home.webhook_sources is 'Outside sources that post webhooks: a service principal each, with the sealed secret its signature is checked with.';

create table home.mailboxes (
  home text primary key,
  last_position bigint not null default 0
);
comment on table home.mailboxes is 'One mailbox per principal; its row lock numbers the messages.';

create table home.mailbox_messages (
  home text not null,
  position bigint not null,
  direction text not null check (direction in ('in', 'out')),
  origin_domain text not null,
  sender text not null,
  message_id text not null,
  conversation_id text,
  interaction_type text not null,
  content_type text not null,
  header bytea not null,
  header_digest text not null,
  body bytea not null,
  receipt_id text,
  input_id text,
  stored_at timestamptz not null default hearth_now(),
  primary key (home, position),
  constraint mailbox_messages_tuple_unique unique (home, direction, origin_domain, sender, message_id)
);
create index mailbox_messages_by_conversation on home.mailbox_messages (home, conversation_id, position) where conversation_id is not null;
comment on table home.mailbox_messages is 'What reached or left a principal, bytes as received. The unique tuple is the delivery identity (D5); it is kept at least as long as dedupe memory, 7 days.';

create table home.conversations (
  home text not null,
  conversation_id text not null,
  created_by text not null,
  creating_domain text not null,
  created_at timestamptz not null default hearth_now(),
  primary key (home, conversation_id)
);
comment on table home.conversations is 'A conversation as one of our principals sees it; the creating domain owns its membership.';

create table home.conversation_participants (
  home text not null,
  conversation_id text not null,
  participant text not null,
  joined_at timestamptz not null default hearth_now(),
  primary key (home, conversation_id, participant)
);
comment on table home.conversation_participants is 'Who takes part, as known here.';
