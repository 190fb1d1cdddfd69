-- What the private door needs of its own: cursors that cannot be made up, answers that a repeated request gets again,
-- and lists by time.
alter table home.domain add column cursor_key bytea not null
  default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
comment on column home.domain.cursor_key is 'Authenticates the cursors that lists give out; every process of the domain takes those of the others.';

create table home.idempotency_keys (
  home text not null,
  key_digest text not null,
  body_digest text not null,
  claimed_until timestamptz,
  status integer,
  answer bytea,
  expires_at timestamptz not null,
  created_at timestamptz not null default hearth_now(),
  primary key (home, key_digest),
  check ((answer is null) = (status is null)),
  check ((answer is null) = (claimed_until is not null))
);
create index idempotency_keys_by_expiry on home.idempotency_keys (home, expires_at);
comment on table home.idempotency_keys is 'Requests that carried an Idempotency-Key, by caller: being worked on (claimed_until), or done with the sealed answer that a repeat gets.';

create index inputs_by_time on foundation.inputs (tenant, received_at, id);
create index runs_by_time on foundation.runs (tenant, created_at, id);
create index sessions_by_time on foundation.sessions (tenant, created_at, id);
create index audit_entries_by_home on foundation.audit_entries (home, at, id);
