-- Which device ends the workers of a chunk is found by halving the window that was open when they died.
alter table chunks
  add column suspect_devices integer check (suspect_devices > 0),
  add column set_aside smallint not null default 0;
