-- A message with its header is a little more than the 2 kB from which PostgreSQL tries to compress a row and then moves
-- columns out of it. Kept inline up to a page, a row that is never changed costs one write instead of three, and nothing
-- is squeezed in vain. A row that is changed later would be copied whole, so those stay as they are.
alter table federation.quarantine_items set (toast_tuple_target = 8160);
alter table foundation.run_events set (toast_tuple_target = 8160);
alter table home.mailbox_messages set (toast_tuple_target = 8160);

-- A message in a mailbox is the record of its interaction: its header says everything that this table repeated.
drop table federation.interactions;

-- JSON text, as it is sent.
alter table federation.inbound_transactions alter column answer type text using convert_from(answer, 'UTF8');

-- What the peer's discovery document says that it takes at most.
alter table federation.peers add column receiver_limits jsonb;

-- Long texts of hashes, ids and signatures hardly get smaller: they are kept as they are.
alter table federation.inbound_transactions alter column answer set storage external;
alter table federation.transaction_receipts alter column token set storage external;
