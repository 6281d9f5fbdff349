-- By which of the five ways of counting an event is a conversion of a campaign: a row for each that holds, each of the message
-- that it is by. And what the event brought, where the goal names an attribute of it.
alter table conversions add column attribution text not null default 'TOTAL_CONVERSIONS';
alter table conversions add column revenue numeric;
alter table conversions add constraint conversions_attribution_check check (
  attribution in ('VIEW_THROUGH', 'CLICK_THROUGH', 'IN_SESSION', 'TOTAL_CONVERSIONS', 'CLICK_CONVERSIONS')
);
-- Whom a message did not reach has neither seen nor clicked it.
alter table conversions add constraint conversions_unreached_check check (reach is null or attribution = 'TOTAL_CONVERSIONS');
alter table conversions drop constraint conversions_pkey;
alter table conversions add constraint conversions_pkey primary key (
  workspace_id, bucket, campaign_id, goal, event_id, attribution
);
