-- Most connections that a node opens to the database itself; those of a node that did not say are not counted.
alter table nodes add column connections integer not null default 0;
alter table nodes add constraint nodes_connections_check check (connections >= 0);
alter table nodes alter column connections drop default;
