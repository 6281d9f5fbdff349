import type { Platform } from '../../domain/content/content.ts';
import type { ExplainedChunk, ExplainedDelivery, ExplainedDevice, RunStatus } from '../../domain/explain.ts';
import type { CampaignDeliveryType } from '../../domain/campaigns/campaign.ts';
import { namedVariant } from '../../domain/experiments/variants.ts';
import type { Suspicion } from '../../domain/users/devices.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';
import { suspicionColumns, withSuspicion } from '../devices/suspected-devices.ts';
import type { SuspicionColumns } from '../devices/suspected-devices.ts';
import { listRunsThatSent } from '../campaigns/campaign-failures.ts';
import { isGivenBucket } from '../users/buckets.ts';
import { givenInLedger, ledgerLocale, ledgerVariation, outcomeWord, platformWord } from './ledger-encoding.ts';
import type { LedgerVariant } from './ledger-encoding.ts';

/** A row together with the user it belongs to. */
type OfUser<Row> = Row & UserKey;

const given = (tx: Queryable, users: UserKey[]) => tx`
  unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
    as given (bucket, user_id)`;

export type CampaignToExplain = {
  id: string;
  /** The same for all versions of the campaign. */
  canonicalCampaignId: string;
  deliveryType: CampaignDeliveryType;
  name: string;
  status: string;
  statusReason: string | null;
  platforms: Platform[];
  settings: Record<string, unknown>;
  nextAt: Date | null;
};

/** Finds any campaign, including test campaigns. Index: campaigns primary key. */
export async function findCampaignToExplain(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CampaignToExplain | undefined> {
  const [row] = await tx<CampaignToExplain[]>`
    select id, campaign_id as "canonicalCampaignId", delivery_type as "deliveryType", name, status, status_reason as "statusReason", platforms, settings, next_at as "nextAt"
    from campaigns where id = ${id} and workspace_id = ${workspaceId}`;
  return row;
}

export type RunToExplain = {
  id: string;
  /** The run's number in the ledger. */
  number: number;
  status: RunStatus;
  statusReason: string | null;
  createdAt: Date;
  startedAt: Date | null;
  day: string;
  audienceBound: string | null;
  segmentId: string | null;
  version: number | null;
  /** Members of its audience may have been deleted since, so a user who is not found may have been one. */
  isForgotten: boolean;
  /** The run sent messages, and its ledger day has been dropped. */
  isLedgerDropped: boolean;
  targetUsers: [bucket: number, userId: string][] | null;
  /** Null for a campaign in one language. */
  locales: string[] | null;
};

/** Lists the newest runs of a campaign, or of the given ones. Indexes: runs_campaign, segments primary key. */
export async function listRunsToExplain(
  tx: Queryable,
  { campaignId, runIds, limit }: { campaignId: string; runIds: readonly string[] | undefined; limit: number },
): Promise<RunToExplain[]> {
  const runs = await tx<RunToExplain[]>`
    select runs.id, runs.number, runs.status, runs.status_reason as "statusReason", runs.created_at as "createdAt",
      runs.started_at as "startedAt", runs.day::text as day, runs.audience_bound as "audienceBound",
      runs.audience_segment_id as "segmentId", runs.audience_version as version, runs.target_users as "targetUsers",
      runs.locales,
      case when runs.audience_segment_id is null then false
        when runs.audience_segment_id = runs.id then runs.ended_at is not null
        else coalesce(segments.version > runs.audience_version or segments.state = 'ARCHIVED', true) end as "isForgotten",
      to_regclass('deliveries_' || to_char(runs.day, 'YYYYMMDD')) is null as "isLedgerDropped"
    from runs
    left join segments on segments.id = runs.audience_segment_id
    where runs.campaign_id = ${campaignId} ${runIds === undefined ? tx`` : tx`and runs.id = any(${[...runIds]})`}
    order by runs.created_at desc, runs.id desc
    limit ${limit}`;
  const ids = runs.filter(({ isLedgerDropped }) => isLedgerDropped).map(({ id }) => id);
  const sent = new Set(await listRunsThatSent(tx, ids));
  return runs.map((run) => ({ ...run, isLedgerDropped: sent.has(run.id) }));
}

/** `suspicion`: as stored in the row; the device may have recovered since. */
export type DeviceToExplain = Omit<ExplainedDevice, 'suspicion'> & { suspicion: Suspicion | null };

/** Lists the users' devices in any state. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function listDevicesToExplain(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<OfUser<DeviceToExplain>[]> {
  const inBucket = isGivenBucket(tx, { column: tx`devices.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<OfUser<Omit<ExplainedDevice, 'suspicion'> & SuspicionColumns>[]>`
    select devices.bucket, devices.user_id as "userId", devices.id, devices.device_id as "deviceId", devices.platform,
      devices.state, devices.provisional as "isProvisional", devices.app_id as "appId",
      ${suspicionColumns(tx)}
    from ${given(tx, users)}
    join devices on devices.workspace_id = ${workspaceId} and ${inBucket}
      and devices.user_id = given.user_id collate "C"
    order by devices.bucket, devices.id`;
  return rows.map(withSuspicion);
}

type Asked = { workspaceId: string; run: RunToExplain; users: UserKey[] };

/** Lists the ledger rows of these users in a run. Index: primary key of the run's day. */
export async function listDeliveriesToExplain(
  tx: Queryable,
  { run, users }: Asked,
): Promise<OfUser<ExplainedDelivery>[]> {
  const inBucket = isGivenBucket(tx, { column: tx`deliveries.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<OfUser<Omit<ExplainedDelivery, 'variation' | 'locale'> & LedgerVariant>[]>`
    select deliveries.bucket, encode(deliveries.user_id, 'hex') as "userId",
      encode(deliveries.device_id, 'hex') as "deviceId", ${platformWord(tx, tx`deliveries.platform`)} as platform,
      ${outcomeWord(tx, tx`deliveries.outcome`)} as outcome, deliveries.code, deliveries.attempts, deliveries.sent_at as "sentAt",
      deliveries.retry_at as "retryAt", ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as locale
    from ${givenInLedger(tx, users)}
    join deliveries on deliveries.day = ${run.day}::date and ${inBucket} and deliveries.user_id = given.user_id
      and deliveries.run_number + 0 = ${run.number}::bigint
    order by deliveries.bucket, deliveries.device_id`;
  return rows.map((row) => ({ ...row, ...namedVariant(run.locales, row) }));
}

/** Returns the given users that are in the run's frozen segment. Index: segment_members primary key. */
export async function listMembersToExplain(tx: Queryable, { workspaceId, run, users }: Asked): Promise<UserKey[]> {
  const inBucket = isGivenBucket(tx, { column: tx`member.bucket`, given: tx`given.bucket`, rows: users });
  return tx<UserKey[]>`
    select distinct member.bucket, member.user_id as "userId"
    from ${given(tx, users)}
    join segment_members as member on member.workspace_id = ${workspaceId} and ${inBucket}
      and member.segment_id = ${run.segmentId} and member.user_id = given.user_id collate "C"
      and member.added_in <= ${run.version} and (member.removed_in is null or member.removed_in > ${run.version})`;
}

export type ChunkToExplain = ExplainedChunk & { number: number; bucketFrom: number; bucketTo: number };

/** Lists the chunks of a run, at most 257. Index: primary key. */
export async function listChunksToExplain(tx: Queryable, runId: string): Promise<ChunkToExplain[]> {
  return tx<ChunkToExplain[]>`
    select state, number, bucket_from as "bucketFrom", bucket_to as "bucketTo" from chunks where run_id = ${runId}`;
}
