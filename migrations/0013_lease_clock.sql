-- Leases, claims and pauses between hosts are told by a clock that only living hosts move, each by its own monotonic clock: no
-- step of the machine's clock and no outage of the database ends what a living host holds, or prolongs what a dead one had.
create table foundation.lease_clock (
  one boolean primary key default true check (one),
  at timestamptz not null
);
comment on table foundation.lease_clock is 'The time by which leases, claims and pauses are told. Living hosts move it on at each heartbeat; it stands still while none lives, and so falls behind the wall clock.';
insert into foundation.lease_clock (at) values (hearth_now());

create function hearth_lease_now() returns timestamptz
language sql stable parallel safe
return (select at from foundation.lease_clock);
comment on function hearth_lease_now() is 'The time of leases, claims and pauses; never compared with wall-clock time.';

-- What hosts of before had is over by their own clock; nothing of it lasts longer than a lease.
update home.placements set expires_at = least(expires_at, hearth_lease_now());
update foundation.embedded_placements set expires_at = least(expires_at, hearth_lease_now());
update foundation.runs set lease_expires_at = least(lease_expires_at, hearth_lease_now() - interval '1 second') where status = 'running';
alter table foundation.suspensions alter column replay_due_at set default hearth_lease_now();

comment on column home.placements.expires_at is 'In lease time (hearth_lease_now).';
comment on column foundation.embedded_placements.expires_at is 'In lease time (hearth_lease_now).';
comment on column foundation.runs.lease_expires_at is 'In lease time (hearth_lease_now).';
comment on column foundation.effects.claimed_until is 'In lease time (hearth_lease_now).';
comment on column foundation.inputs.position is 'Place in its tenant''s log, given in the commit that decides on it; null until then.';
