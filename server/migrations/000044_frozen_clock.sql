-- The instant of real time at which the sandbox's clock stands, beside what it was moved; null while it runs.
alter table installation add column clock_frozen_at timestamptz;
