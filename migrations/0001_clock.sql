-- One clock for all processes: the database's. Tests dial it per database; a production start refuses a dialled clock.
create function hearth_now() returns timestamptz
language sql stable parallel safe
return statement_timestamp()
     + coalesce(nullif(current_setting('hearth.clock_offset_ms', true), '')::bigint, 0) * interval '1 millisecond';

comment on function hearth_now() is 'The only clock in SQL: statement time plus hearth.clock_offset_ms, which only tests set.';
