import type { Database } from '../../src/storage/database.ts';
import type { FileHost } from './start-file-host.ts';

export type FillAudit = { operations: number; succeeded: number; members: number; callbacks: number };

/** Compares fills of so many users each with what the database and the receiver of callbacks have. */
export async function auditFills(
  { database, host }: { database: Database; host: FileHost },
  { fills, users }: { fills: number; users: number },
): Promise<{ audit: FillAudit; broken: string[] }> {
  const [row] = await database<{ operations: number; succeeded: number; members: number; sent: number }[]>`
    select (select count(*) from segment_operations) as operations,
      (select count(*) from segment_operations where state = 'SUCCEEDED') as succeeded,
      (select count(*) from segment_members where removed_in is null
        and segment_id in (select segment_id from segment_operations)) as members,
      (select count(*) from callbacks) as sent`;
  const { operations, succeeded, members, sent } = row!;
  const promises: Record<string, boolean> = {
    'a fill is one operation, and ends well': operations === fills && succeeded === fills,
    'a filled segment has every user once': members === fills * users,
    'a fill has one callback, under one id': sent === fills && host.callbacks.size === fills,
  };
  return {
    audit: { operations, succeeded, members, callbacks: host.callbacks.size },
    broken: Object.keys(promises).filter((promise) => !promises[promise]),
  };
}

/** Nothing is open: no run, no fill, no callback. */
export async function isAllEnded(database: Database): Promise<boolean> {
  const [row] = await database<{ open: number }[]>`
    select (select count(*) from runs where status in ('SCHEDULED', 'QUEUED', 'SENDING'))
      + (select count(*) from segment_operations where ended_at is null)
      + (select count(*) from callbacks where state = 'PENDING') as open`;
  return row!.open === 0;
}
