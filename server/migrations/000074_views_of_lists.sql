-- Every list with filters has views.
alter table saved_views drop constraint saved_views_screen_check;
alter table saved_views add constraint saved_views_screen_check
  check (screen in ('campaigns', 'segments', 'deliveries', 'calls', 'audit'));
