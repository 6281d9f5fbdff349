-- What a phone tells of a message that was shown: FCM delivered it with a lower priority than it was sent with, and later.
alter table device_interactions add column lowered boolean not null default false;
