-- What a call was answered, and the headers of both sides that say how it was made: names of a list, nothing that proves a caller.
alter table api_log add column headers text;
alter table api_log add column response_body text;
