-- Where a node answers calls, for the command line; null of a node that has not said so, or serves none.
alter table nodes add column url text;
