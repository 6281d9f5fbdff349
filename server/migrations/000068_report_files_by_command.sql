-- A file that was asked for by the command line is of no key: its signature opens it until it is gone.
alter table report_files alter column key_id drop not null;
alter table report_files alter column key_generation drop not null;
alter table report_files add constraint report_files_key_check check ((key_id is null) = (key_generation is null));
