-- How bodies of pushes are read. Workspaces that are there refuse what they refused, until they choose.
alter table workspaces add column push_bodies text not null default 'strict'
  check (push_bodies in ('lenient', 'strict'));
alter table workspaces alter column push_bodies set default 'lenient';
