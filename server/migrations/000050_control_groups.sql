-- The share of its users that a workspace keeps out of campaigns which say so, in percent; null: nobody.
alter table workspaces add column control_group_percent smallint;
alter table workspaces add constraint workspaces_control_group_percent_check check (control_group_percent between 1 and 50);

-- The workspace's share as it was when the run began: no window of a run knows another. And how many users the run's control
-- groups kept out, and how many not, by platform: counted at its start, of runs that have such groups.
alter table runs add column global_control_percent smallint;
alter table runs add column group_users jsonb;
alter table runs add constraint runs_group_users_check check (jsonb_typeof(group_users) = 'array');

-- Whom the event was of: somebody whom the run's message reached (null), somebody it was meant for and did not reach, or
-- somebody in a control group. Columns without a value are added without a row being read or written.
alter table conversions add column reach text;
alter table conversions add constraint conversions_reach_check check (
  reach in ('NOT_REACHED', 'GLOBAL_CONTROL_GROUP', 'CAMPAIGN_CONTROL_GROUP')
);
