-- Of a report that is to be streamed: which of the contents its message was; null where there is one for all.
alter table event_stream_marks add column variation smallint;
alter table event_stream_marks add column locale text collate "C";
