-- The dispositions of an input are read in pages.
drop index foundation.candidates_by_input;
create index candidates_by_input on foundation.candidates (input_id, id);
