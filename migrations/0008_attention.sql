-- Waits that take more than one input, waits that end by themselves, many waiting at once, and what attention makes of events.
alter table foundation.suspensions
  drop constraint suspensions_resume_policy_check,
  add constraint suspensions_resume_policy_check check (resume_policy in ('first_match', 'all', 'any')),
  add column needed smallint not null default 1 check (needed between 1 and 16),
  add column expires_at timestamptz,
  add column due_at timestamptz,
  add column expired_by text,
  add column partly_matched integer not null default 0,
  add column replayed_to bigint,
  add column replay_due_at timestamptz not null default hearth_now(),
  add column replay_faults integer not null default 0;
drop index foundation.suspensions_unreplayed;
create index suspensions_unreplayed on foundation.suspensions (replay_due_at) where status = 'open' and replayed_at is null;
create index suspensions_due on foundation.suspensions (due_at) where status = 'open' and expired_by is null and due_at is not null;
comment on table foundation.suspensions is 'A run''s declared wait: open until enough of its subscriptions are satisfied, or it expires; consumed in the commit that creates the continuation run.';
comment on column foundation.suspensions.needed is 'How many of its subscriptions have to be satisfied: 1 for first_match, n for any, all of them for all.';
comment on column foundation.suspensions.due_at is 'When it expires by itself: at expires_at, or when too few of its subscriptions can still be satisfied.';
comment on column foundation.suspensions.expired_by is 'The input suspension.expired that ends it; nothing else is counted any more.';
comment on column foundation.suspensions.partly_matched is 'Inputs that were counted without satisfying it.';
comment on column foundation.suspensions.replayed_to is 'How far the log has been read again, while that is not finished.';
comment on column foundation.suspensions.replay_due_at is 'When the log is to be read again for it; later and later for one that cannot be replayed.';

alter table foundation.subscriptions
  add column repeat smallint not null default 1 check (repeat between 1 and 32),
  add column dedupe text,
  add column priority text not null default 'normal' check (priority in ('urgent', 'normal', 'bulk'));
drop index foundation.subscriptions_match;
create index subscriptions_waiting on foundation.subscriptions (tenant, type, subject, home, suspension_id, id)
  where owner = 'suspension' and status = 'active';
create index subscriptions_listening on foundation.subscriptions (tenant, type, subject, home, id)
  where owner = 'agent' and status = 'active';
comment on column foundation.subscriptions.repeat is 'How many inputs satisfy it; 1 is once. A standing subscription takes any number.';
comment on column foundation.subscriptions.dedupe is 'JSON pointer into an input: inputs with the same value there count once. Null: by their source event.';
comment on column foundation.subscriptions.priority is 'How much the agent cares, set by who manages the agent; weighed by its attention.';

create table foundation.suspension_matches (
  home text not null,
  suspension_id text not null,
  subscription_id text not null,
  dedupe_key text not null,
  input_home text not null,
  input_id text not null,
  position bigint not null,
  matched_at timestamptz not null default hearth_now(),
  primary key (home, subscription_id, dedupe_key)
);
create index suspension_matches_by_suspension on foundation.suspension_matches (home, suspension_id, position);
comment on table foundation.suspension_matches is 'Inputs that a wait has counted and that did not satisfy it yet; its continuation is shown them all.';

-- Waits for one subject are found in the log without passing what concerns others.
create index input_log_by_subject on foundation.input_log (tenant, type, subject, position) where subject is not null;

alter table foundation.input_log_heads
  add column fan_out_after jsonb,
  add column fan_out_count integer not null default 0;
comment on column foundation.input_log_heads.fan_out_after is 'The next input is decided on for a part of whom it concerns: this far. Null before the first part and after the last.';

alter table foundation.inputs
  add column relationship text not null default 'known' check (relationship in ('own', 'known', 'stranger')),
  add column due_at timestamptz;
comment on column foundation.inputs.relationship is 'Set by ingress only: whether who sent it is of this domain, known to it, or neither. Never read from data.';
comment on column foundation.inputs.due_at is 'Set by ingress only: when it is too late for what this is about. Null where nobody knows.';
create index inputs_by_idempotency on foundation.inputs (tenant, idempotency_key) where idempotency_key is not null;

alter table foundation.candidates add column attention jsonb;
create index candidates_woken on foundation.candidates (home, decided_at) where attention ->> 'verdict' = 'wake';
comment on column foundation.candidates.attention is 'Verdict, policy, reason and weights of the agent''s attention, for an event that it listens to.';
