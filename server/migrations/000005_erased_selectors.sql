-- Erasing a user removes the values that name them from requests that waited for a campaign (decision 0013). They are few among
-- all runs, of which there is one a push. Building the index reads the table once, about a second for a million runs.

create index runs_selectors on runs (workspace_id) where target_selector is not null;
