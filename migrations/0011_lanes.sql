-- Lanes: the order of what is queued in a session, what may be merged into one run, and until when a lane's head is held.
alter table foundation.inputs
  add column priority text not null default 'normal' check (priority in ('urgent', 'normal', 'bulk'));
comment on column foundation.inputs.priority is 'Set by ingress only, from the authenticated connection. Never read from data.';

alter table foundation.candidates
  add column lane_rank smallint not null default 0,
  add column merge_key text,
  add column not_before timestamptz,
  add column merged_into text,
  add column merged_count integer not null default 0;
create index candidates_lane_rank on foundation.candidates (home, session_id, lane_rank, position, id) where status = 'queued';
create index candidates_merged on foundation.candidates (home, merged_into) where merged_into is not null;
comment on column foundation.candidates.lane_rank is 'Class in its lane, lowest first; 0 for everything where the agent''s lane runs in order of arrival.';
comment on column foundation.candidates.merge_key is 'Type and subject of a queued event whose agent merges; neighbours in a lane with the same key become one run.';
comment on column foundation.candidates.not_before is 'Until when this event is held at the head of its lane for others to be merged with it.';
comment on column foundation.candidates.merged_into is 'The candidate whose run takes this one along; its own status follows that of the run.';
comment on column foundation.candidates.merged_count is 'How many others the run of this one takes along.';

alter table foundation.sessions
  add column lane_due_at timestamptz,
  add column lane_overtakes integer not null default 0,
  add constraint sessions_lane_due_idle check (lane_due_at is null or state = 'idle');
create index sessions_lane_due on foundation.sessions (lane_due_at) where lane_due_at is not null;
comment on column foundation.sessions.lane_due_at is 'When the held lane of an idle session may start; null when its lane is empty, runs, or waits for a continuation.';
comment on column foundation.sessions.lane_overtakes is 'How many runs in a row began before the oldest queued candidate; at the limit the oldest is next.';
