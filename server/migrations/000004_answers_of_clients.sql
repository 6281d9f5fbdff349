-- V1 searches return the bare array, and statistics have the names that clients read (decision 0071). Workspaces that exist keep
-- the answers that their callers know; `carillon workspaces set` changes both.

alter table workspaces alter column v1_search_bare_array set default true;

-- Lower-case platforms without a total, and one spelling of the locale key.
alter table workspaces add column earlier_statistics boolean not null default true;
alter table workspaces alter column earlier_statistics set default false;
