-- How a message was asked to be carried (apns-priority, TTL, urgency), which its payload does not show. Messages that were
-- received before say nothing of it.
alter table sandbox_messages add column transport jsonb not null default '{}' check (jsonb_typeof(transport) = 'object');
