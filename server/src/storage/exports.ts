import { defaultAppId } from '../domain/apps.ts';
import type { Platform } from '../domain/content/content.ts';
import { providerOf } from '../domain/delivery/providers.ts';
import type { ProviderName } from '../domain/delivery/providers.ts';
import { namedVariant } from '../domain/experiments/variants.ts';
import type { NamedVariant } from '../domain/experiments/variants.ts';
import type { ChoiceSource } from '../domain/topics.ts';
import type { Attributes } from '../domain/users/user-attributes.ts';
import { listRunDays } from './campaigns/campaign-failures.ts';
import type { RunDay } from './campaigns/campaign-failures.ts';
import { inSnapshot } from './database.ts';
import type { Database, Queryable, Transaction } from './database.ts';
import {
  idText,
  unpackedOrNull,
  ledgerLocale,
  ledgerVariation,
  outcomeWord,
  platformWord,
} from './ledger/ledger-encoding.ts';
import type { LedgerVariant } from './ledger/ledger-encoding.ts';
import type { EventPlatform } from './users/events.ts';

/** Rows per page; the reader requests the next page when it has written this one. */
const pageRows = 1_000;

type Pages<Row> = AsyncIterable<Row[]>;

/**
 * Reads in one snapshot, without an idle timeout, because the reader may be a slow terminal. Until the snapshot ends,
 * VACUUM cannot remove newer dead rows.
 */
export async function readStream<Answer>(
  database: Database,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> {
  return await inSnapshot(database, async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    return read(tx);
  });
}

export type UserToExport = { id: string; customerId: string; attributes: Attributes; createdAt: Date; updatedAt: Date };

/** Streams all users of a workspace, bucket by bucket. Index: users primary key. */
export function streamUsers(tx: Queryable, workspaceId: string): Pages<UserToExport> {
  return tx<UserToExport[]>`
    select id, customer_id as "customerId", attributes, created_at as "createdAt", updated_at as "updatedAt"
    from users
    where workspace_id = ${workspaceId}
    order by bucket, id`.cursor(pageRows);
}

export type DeviceToExport = {
  customerId: string;
  deviceId: string;
  platform: Platform;
  provider: ProviderName | null;
  pushId: string;
  pushIdType: 'fid' | null;
  appId: string | null;
  state: string;
  blockedState: string | null;
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  gaid: string | null;
  idfv: string | null;
  locale: string | null;
  badgeCount: number | null;
  registeredAt: Date;
  blockReason: string | null;
  blockReference: string | null;
};

/** Streams all devices of a workspace with their users' customer ids. Indexes: devices and users primary keys. */
export function streamDevices(tx: Queryable, workspaceId: string): Pages<DeviceToExport> {
  return tx<DeviceToExport[]>`
    select users.customer_id as "customerId", devices.device_id as "deviceId", devices.platform,
      devices.push_provider as provider, devices.push_id as "pushId", devices.push_id_type as "pushIdType", devices.app_id as "appId", devices.state,
      devices.blocked_state as "blockedState",
      devices.provisional as "isProvisional", devices.model, devices.app_version as "appVersion",
      devices.os_version as "osVersion", devices.gaid, devices.idfv, devices.locale,
      devices.badge_count as "badgeCount", devices.registered_at as "registeredAt",
      devices.block_reason as "blockReason", devices.block_reference as "blockReference"
    from devices
    join users on users.workspace_id = devices.workspace_id and users.bucket = devices.bucket
      and users.id = devices.user_id
    where devices.workspace_id = ${workspaceId}
    order by devices.bucket, devices.id`.cursor(pageRows);
}

export type ChoiceToExport = {
  customerId: string;
  topicId: string;
  isIn: boolean;
  source: ChoiceSource;
  chosenAt: Date;
};

/** Streams the explicit choices of these topics with their users' customer ids. Indexes: topic_choices and users primary keys. */
export function streamTopicChoices(
  tx: Queryable,
  { workspaceId, topicIds }: { workspaceId: string; topicIds: readonly string[] },
): Pages<ChoiceToExport> {
  return tx<ChoiceToExport[]>`
    select users.customer_id as "customerId", topic_choices.topic_id as "topicId", topic_choices.is_in as "isIn",
      topic_choices.source, topic_choices.chosen_at as "chosenAt"
    from topic_choices
    join users on users.workspace_id = topic_choices.workspace_id and users.bucket = topic_choices.bucket
      and users.id = topic_choices.user_id
    where topic_choices.workspace_id = ${workspaceId} and topic_choices.topic_id = any(${[...topicIds]})
    order by topic_choices.bucket, topic_choices.user_id, topic_choices.topic_id`.cursor(pageRows);
}

export type EventToExport = {
  customerId: string;
  name: string;
  attributes: Record<string, unknown>;
  occurredAt: Date;
  receivedAt: Date;
  platform: EventPlatform | null;
  appVersion: string | null;
  utcOffsetSeconds: number | null;
  deviceId: string | null;
};

/**
 * Streams all events of a workspace, in the order of the days they were received. Indexes: events, users and devices
 * primary keys.
 */
export function streamEvents(tx: Queryable, workspaceId: string): Pages<EventToExport> {
  return tx<EventToExport[]>`
    select users.customer_id as "customerId", events.name, events.attributes, events.occurred_at as "occurredAt",
      events.received_at as "receivedAt", events.platform, events.app_version as "appVersion",
      events.utc_offset_seconds as "utcOffsetSeconds", devices.device_id as "deviceId"
    from events
    join users on users.workspace_id = events.workspace_id and users.bucket = events.bucket
      and users.id = events.user_id
    left join devices on devices.workspace_id = events.workspace_id and devices.bucket = events.bucket
      and devices.id = events.device_row_id
    where events.workspace_id = ${workspaceId}
    order by events.day, events.bucket, events.id`.cursor(pageRows);
}

/** Streams the members of a file segment or cohort at the version that readers see. Index: segment_members primary key. */
export function streamMembers(
  tx: Queryable,
  segment: { workspaceId: string; id: string; version: number },
): Pages<{ customerId: string }> {
  return tx<{ customerId: string }[]>`
    select users.customer_id as "customerId"
    from segment_members as member
    join users on users.workspace_id = member.workspace_id and users.bucket = member.bucket and users.id = member.user_id
    where member.workspace_id = ${segment.workspaceId} and member.segment_id = ${segment.id}
      and member.added_in <= ${segment.version}
      and (member.removed_in is null or member.removed_in > ${segment.version})
    order by member.bucket, member.user_id`.cursor(pageRows);
}

export type DeliveryToExport = {
  runId: string;
  /** Null when the user was erased. */
  customerId: string | null;
  deviceId: string;
  platform: Platform;
  /** Null, like the provider, when the device was removed. */
  appId: string | null;
  provider: ProviderName | null;
  outcome: string;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  sentAt: Date;
} & NamedVariant;

type StoredDelivery = Omit<DeliveryToExport, 'providerMessageId' | keyof NamedVariant> &
  LedgerVariant & { providerMessageId: Buffer | null; locales: string[] | null };

/**
 * Streams the ledger of a campaign, run by run, from the partitions of their days. Indexes: runs_campaign,
 * deliveries_log and deliveries_log_other of each day, users and devices primary keys.
 */
export async function* streamDeliveries(
  tx: Queryable,
  { workspaceId, campaignId }: { workspaceId: string; campaignId: string },
): Pages<DeliveryToExport> {
  const runDays = await listRunDays(tx, campaignId);
  if (runDays.length === 0) return;
  const [{ workspaceNumber }] = runDays as [RunDay];
  const days = runDays.map(({ day }) => day);
  const pages = tx<StoredDelivery[]>`
    with exported as materialized (
      select id, number, day, created_at, locales from runs where campaign_id = ${campaignId} and workspace_id = ${workspaceId}
    )
    select exported.id as "runId", users.customer_id as "customerId",
      encode(deliveries.device_id, 'hex') as "deviceId", ${platformWord(tx, tx`deliveries.platform`)} as platform,
      case when devices.id is not null then coalesce(devices.app_id, ${defaultAppId}) end as "appId",
      devices.push_provider as provider,
      ${outcomeWord(tx, tx`deliveries.outcome`)} as outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId", deliveries.attempts, deliveries.sent_at as "sentAt",
      ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as locale, exported.locales
    from exported
    join deliveries on deliveries.day = any(${days}::date[]) and deliveries.day = exported.day
      and deliveries.workspace_number = ${workspaceNumber} and deliveries.run_number = exported.number
    left join users on users.workspace_id = ${workspaceId} and users.bucket = deliveries.bucket
      and users.id = ${idText(tx, tx`deliveries.user_id`)}
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = deliveries.bucket
      and devices.id = ${idText(tx, tx`deliveries.device_id`)}
    order by exported.created_at, exported.id, deliveries.bucket, deliveries.device_id`.cursor(pageRows);
  for await (const rows of pages)
    yield rows.map(({ locales, ...row }) => ({
      ...row,
      ...namedVariant(locales, row),
      provider: row.appId === null ? null : providerOf(row),
      providerMessageId: unpackedOrNull(row.providerMessageId),
    }));
}
