-- What the simulated provider was sent beside the message, of what authorizes only its scheme.
alter table sandbox_messages add column headers jsonb not null default '{}';
alter table sandbox_messages add constraint sandbox_messages_headers_check check (jsonb_typeof(headers) = 'object');
