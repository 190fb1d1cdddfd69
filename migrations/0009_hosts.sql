-- Several hosts on one database share the agents: who has one and is not needed there hands it to whoever asks for it.
alter table home.placements
  add column wanted_by text,
  add column wanted_until timestamptz,
  add constraint placements_wanted check ((wanted_by is null) = (wanted_until is null));
comment on column home.placements.wanted_by is 'The host that asks for this agent; until wanted_until, once it is given back, nobody else takes it.';

create table foundation.embedded_placements (
  home text primary key,
  placement_lease_id text not null,
  placement_epoch bigint not null,
  holder text not null,
  expires_at timestamptz not null,
  wanted_by text,
  wanted_until timestamptz,
  check ((wanted_by is null) = (wanted_until is null))
);
create index embedded_placements_by_holder on foundation.embedded_placements (holder);
comment on table foundation.embedded_placements is 'Which process acts for an agent in a Foundation that is embedded without homes; the epoch only grows.';

alter table foundation.runs
  add column reap_faults integer not null default 0,
  add column reap_after timestamptz;
comment on column foundation.runs.reap_after is 'A run whose lease is over and that could not be ended is not tried again before this; reap_faults counts the attempts.';
