-- Campaigns that are written once and used again, under names of their own.
create table campaign_templates (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  name text not null,
  -- As the campaign API would be sent them.
  parts jsonb not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint campaign_templates_name_check check (char_length(name) between 1 and 256),
  constraint campaign_templates_parts_check check (jsonb_typeof(parts) = 'object')
);
create unique index campaign_templates_name on campaign_templates (workspace_id, name);

-- What someone looks at again and again: the search of a screen's address, under a name.
create table saved_views (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id),
  -- Null: of whoever came in by the start link of a sandbox, who has no account.
  account_id text collate "C" references accounts (id),
  screen text not null,
  name text not null,
  search text not null,
  created_at timestamptz not null,
  constraint saved_views_screen_check check (screen in ('campaigns')),
  constraint saved_views_name_check check (char_length(name) between 1 and 100),
  constraint saved_views_search_check check (char_length(search) <= 4000)
);
create unique index saved_views_name on saved_views (workspace_id, screen, coalesce(account_id, ''), name);

select guard_workspace_table('campaign_templates', 'campaign_templates');
select guard_workspace_table('saved_views', 'saved_views');
