import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { idBytesOf } from '../ledger/ledger-encoding.ts';
import { isGivenBucket } from '../users/buckets.ts';

type SentMessage = UserKey & {
  /** The event name of the message's trigger. */
  eventName: string;
};

export type AskedOutcome = {
  workspaceId: string;
  campaignIds: readonly string[];
  sent: readonly SentMessage[];
  outcome: 'accepted' | 'shown' | 'clicked';
};

type OfRun = SentMessage & { runId: string };

/**
 * Returns the event names of the messages that a push service accepted, or that a device reported as shown or clicked. Triggers,
 * runs, deliveries and reports are read one after the other, because a cluster has runs in another place.
 */
export async function findMessageOutcomes(tx: Queryable, asked: AskedOutcome): Promise<Set<string>> {
  const triggered = await findRunsOfTriggers(tx, asked);
  const runs = await findRuns(tx, [...new Set(triggered.map(({ runId }) => runId))]);
  const messages = triggered.flatMap((one) => {
    const run = runs.get(one.runId);
    return run ? [{ ...one, ...run }] : [];
  });
  const devices = await listDevicesSentTo(tx, messages);
  const { outcome } = asked;
  if (outcome === 'accepted')
    return new Set(devices.filter(({ isAccepted }) => isAccepted).map(({ eventName }) => eventName));
  const kind = { shown: 'IMPRESSION', clicked: 'CLICK' }[outcome];
  return findReported(tx, { workspaceId: asked.workspaceId, devices, kind });
}

/** Index: primary key. */
async function findRunsOfTriggers(tx: Queryable, { workspaceId, campaignIds, sent }: AskedOutcome): Promise<OfRun[]> {
  if (sent.length === 0 || campaignIds.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`triggers.bucket`, given: tx`given.bucket`, rows: sent });
  return tx<OfRun[]>`
    select triggers.bucket, triggers.user_id as "userId", triggers.event_name as "eventName", triggers.run_id as "runId"
    from unnest(
      ${sent.map(({ bucket }) => bucket)}::smallint[], ${sent.map(({ userId }) => userId)}::text[],
      ${sent.map(({ eventName }) => eventName)}::text[]
    ) as given (bucket, user_id, event_name)
    join triggers on triggers.workspace_id = ${workspaceId} and ${inBucket}
      and triggers.user_id = given.user_id collate "C" and triggers.campaign_id = any(${[...campaignIds]})
      and triggers.event_name = given.event_name collate "C"
    where triggers.run_id is not null`;
}

type Run = { number: number; campaignId: string; day: string };

/** Index: runs primary key. */
async function findRuns(tx: Queryable, ids: readonly string[]): Promise<Map<string, Run>> {
  if (ids.length === 0) return new Map();
  const rows = await tx<(Run & { id: string })[]>`
    select id, number, campaign_id as "campaignId", day::text as day from runs where id = any(${[...ids]})`;
  return new Map(rows.map(({ id, ...run }) => [id, run]));
}

type Message = OfRun & Run;
type SentTo = Message & { deviceId: string; isAccepted: boolean };

/** Index: primary key of each day. */
async function listDevicesSentTo(tx: Queryable, messages: readonly Message[]): Promise<SentTo[]> {
  if (messages.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`deliveries.bucket`, given: tx`given.bucket`, rows: messages });
  const days = [...new Set(messages.map(({ day }) => day))];
  const rows = await tx<{ index: number; deviceId: string; isAccepted: boolean }[]>`
    select given.index, encode(deliveries.device_id, 'hex') as "deviceId", deliveries.outcome = 'A' as "isAccepted"
    from unnest(
      ${messages.map((_, index) => index)}::integer[], ${messages.map(({ bucket }) => bucket)}::smallint[],
      ${idBytesOf(messages.map(({ userId }) => userId))}::bytea[], ${messages.map(({ number }) => number)}::bigint[]
    ) as given (index, bucket, user_id, run_number)
    join deliveries on ${inBucket} and deliveries.user_id = given.user_id and deliveries.run_number = given.run_number
    where deliveries.day = any(${days}::date[])`;
  return rows.map(({ index, ...row }) => ({ ...messages[index]!, ...row }));
}

/** Index: device_interactions primary key. */
async function findReported(
  tx: Queryable,
  { workspaceId, devices, kind }: { workspaceId: string; devices: readonly SentTo[]; kind: string },
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const inBucket = isGivenBucket(tx, { column: tx`report.bucket`, given: tx`given.bucket`, rows: devices });
  const rows = await tx<{ eventName: string }[]>`
    select given.event_name as "eventName"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ campaignId }) => campaignId)}::text[],
      ${devices.map(({ deviceId }) => deviceId)}::text[], ${devices.map(({ runId }) => runId)}::text[],
      ${devices.map(({ eventName }) => eventName)}::text[]
    ) as given (bucket, campaign_id, device_id, run_id, event_name)
    join device_interactions as report on report.workspace_id = ${workspaceId} and ${inBucket}
      and report.campaign_id = given.campaign_id collate "C" and report.device_id = given.device_id collate "C"
      and report.kind = ${kind} and report.run_id = given.run_id collate "C"`;
  return new Set(rows.map(({ eventName }) => eventName));
}
