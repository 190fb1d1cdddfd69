-- Time as inputs: timers, cron, heartbeats, deadlines and expiries.
create table foundation.schedules (
  home text not null,
  id text not null,
  tenant text not null,
  owner text not null,
  trust_class text not null,
  key text,
  kind text not null check (kind in ('timer', 'cron', 'heartbeat', 'deadline', 'expiry')),
  rule jsonb not null,
  deliver text not null check (deliver in ('command', 'event')),
  catch_up text not null check (catch_up in ('one', 'none', 'all')),
  agent text,
  session_id text,
  subject text,
  data jsonb,
  status text not null check (status in ('active', 'ended', 'cancelled')),
  next_fire_at timestamptz,
  last_slot_at timestamptz,
  fired_count bigint not null default 0,
  ended_reason text,
  created_at timestamptz not null default hearth_now(),
  primary key (home, id),
  check ((status = 'active') = (next_fire_at is not null))
);
create index schedules_due on foundation.schedules (next_fire_at) where status = 'active';
create unique index schedules_by_key on foundation.schedules (home, key) where key is not null and status = 'active';
comment on table foundation.schedules is 'When an input is to be made (F15). Each slot is fired once, in the commit that moves next_fire_at past it.';
comment on column foundation.schedules.key is 'Given by whoever made it: making it again under the same key changes it and adds none.';
comment on column foundation.schedules.trust_class is 'Of the data that it carries: how far whoever made it was trusted then.';
