-- A key names one schedule until it is cancelled, also after its last slot: to set it again fires nothing again (BR-43).
update foundation.schedules s
   set key = null
 where s.key is not null and s.status = 'ended'
   and exists (select 1
                 from foundation.schedules newer
                where newer.home = s.home and newer.key = s.key and newer.id > s.id and newer.status <> 'cancelled');
drop index foundation.schedules_by_key;
create unique index schedules_by_key on foundation.schedules (home, key) where key is not null and status <> 'cancelled';

-- What was computed by a clock that has since been put back is computed again (BR-52).
alter table foundation.schedules add column advanced_at timestamptz not null default hearth_now();
create index schedules_advanced on foundation.schedules (advanced_at)
  where status = 'active' and kind in ('cron', 'heartbeat');
comment on column foundation.schedules.advanced_at is 'When next_fire_at was computed, by the clock of then.';

create index schedules_of_home on foundation.schedules (home) where status = 'active' and owner <> 'system:expiry';
