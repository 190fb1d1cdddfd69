-- Deliveries look for conversations that have to wait before each batch; there are few of them, whatever is queued.
create index outbox_items_held on federation.outbox_items (peer, conversation_id, position) where status = 'queued' and not_before is not null;
