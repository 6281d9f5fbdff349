import { createHash } from 'node:crypto';
import type { Platform } from '../content/content.ts';
import type { ControlGroup } from '../experiments/control-groups.ts';
import { unknownCase } from '../unknown-case.ts';

/** The kinds of event that a receiver may request. */
export const streamedKinds = ['delivered', 'clicked', 'cleared', 'control_group'] as const;
export type StreamedKind = (typeof streamedKinds)[number];

/** The device attributes that a receiver may get. */
export const streamedDeviceAttributes = [
  'platform',
  'device_id',
  'app_id',
  'model',
  'app_version',
  'os_version',
  'locale',
  'push_id',
] as const;
export type StreamedDeviceAttribute = (typeof streamedDeviceAttributes)[number];

/** An event as a batch stores it: with ids, which are null once the user is erased. */
export type StreamedEvent = {
  kind: StreamedKind;
  uuid: string;
  runId: string;
  bucket: number;
  userId: string | null;
  deviceId: string | null;
  platform: Platform | null;
  /** ISO 8601. */
  at: string;
  action?: string;
  /** The variant that the device got, named as in figures and files; absent if all users get the same content. */
  variation?: string;
  locale?: string;
  controlGroup?: ControlGroup;
};

/**
 * Returns the same UUID for the same event, on every node, for every receiver and in every attempt (RFC 9562 §5.8: a custom
 * UUID), so that a receiver can drop a repeat.
 */
export function eventUuid(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export type StreamedCampaign = { id: string; name: string; type: string; channel: string };
export type StreamedUser = { customerId: string; attributes: Record<string, unknown> };
export type StreamedDevice = Record<StreamedDeviceAttribute, string | null> & { userId: string };

/** The current data about the runs, users and devices that a batch names. */
export type BatchFacts = {
  campaignOfRun: ReadonlyMap<string, StreamedCampaign>;
  users: ReadonlyMap<string, StreamedUser>;
  devices: ReadonlyMap<string, StreamedDevice>;
};

export type BatchToWrite = {
  id: string;
  appName: string;
  userAttributes: readonly string[];
  deviceAttributes: readonly StreamedDeviceAttribute[];
  events: readonly StreamedEvent[];
  /** The service's abbreviation, as in names of headers. */
  abbreviation: string;
};

/** Returns the body that is posted to a receiver (fact 7), without users who have been erased in the meantime. */
export function writeEventBatch(batch: BatchToWrite, facts: BatchFacts): string {
  const abbreviation = batch.abbreviation.toUpperCase();
  return JSON.stringify({
    app_name: batch.appName,
    source: 'CARILLON',
    [`${abbreviation.toLowerCase()}_request_id`]: batch.id,
    events: batch.events.map((event) => writeEvent(event, { batch, facts, abbreviation })),
  });
}

/** Returns the same events as lines of JSON (NDJSON), for an object store. */
export function writeEventLines(batch: BatchToWrite, facts: BatchFacts): string {
  const abbreviation = batch.abbreviation.toUpperCase();
  return batch.events.map((event) => `${JSON.stringify(writeEvent(event, { batch, facts, abbreviation }))}\n`).join('');
}

/**
 * Returns the name of the object that holds a batch: the workspace, the day of its first event in UTC, and the batch. Every attempt has
 * the same name. The first event alone would not do: the ledger may give one event to two batches, and the second would replace the first.
 */
export function objectNameOf({
  id,
  workspaceId,
  events,
}: {
  id: string;
  workspaceId: string;
  events: readonly Pick<StreamedEvent, 'at'>[];
}): string {
  return `${workspaceId}/${events[0]!.at.slice(0, 10)}/${id}.ndjson.gz`;
}

type Writing = { batch: BatchToWrite; facts: BatchFacts; abbreviation: string };

function writeEvent(event: StreamedEvent, { batch, facts, abbreviation }: Writing): object {
  const device = event.deviceId === null ? undefined : facts.devices.get(event.deviceId);
  const userId = event.userId ?? device?.userId;
  const user = userId === undefined ? undefined : facts.users.get(userId);
  const code = codeOf(event, abbreviation);
  return {
    event_name: code,
    event_code: code,
    event_uuid: event.uuid,
    event_time: Math.floor(Date.parse(event.at) / 1000),
    event_type: event.kind === 'clicked' || event.kind === 'cleared' ? 'USER_ACTION_EVENT' : 'CAMPAIGN_EVENT',
    event_source: 'CARILLON',
    push_id: batch.deviceAttributes.includes('push_id') ? (device?.push_id ?? null) : null,
    uid: user?.customerId ?? null,
    event_attributes: { ...campaignOf(event, facts), ...ownAttributes(event) },
    user_attributes: Object.fromEntries(
      batch.userAttributes.flatMap((name) =>
        user && Object.hasOwn(user.attributes, name) ? [[name, user.attributes[name]]] : [],
      ),
    ),
    device_attributes: Object.fromEntries(
      batch.deviceAttributes.flatMap((name) => {
        const value = name === 'push_id' ? null : (device?.[name] ?? null);
        return value === null ? [] : [[name, value]];
      }),
    ),
  };
}

function campaignOf({ runId }: StreamedEvent, { campaignOfRun }: BatchFacts) {
  const campaign = campaignOfRun.get(runId);
  return {
    campaign_id: campaign?.id ?? null,
    campaign_name: campaign?.name ?? null,
    campaign_type: campaign?.type ?? null,
    campaign_channel: campaign?.channel ?? null,
    execution_id: runId,
  };
}

/** Returns `undefined` for absent attributes, which JSON leaves out. */
function ownAttributes({ variation, locale, action, controlGroup }: StreamedEvent) {
  return { variation, locale, action, control_group: controlGroup };
}

/** Returns the event name of fact 7. iPhones do not report received messages, so their name says that it was sent. */
function codeOf({ kind, platform }: StreamedEvent, abbreviation: string): string {
  switch (kind) {
    case 'delivered':
      return platform === 'IOS' ? 'n_i_s' : `NOTIFICATION_RECEIVED_${onPlatform(platform)}${abbreviation}`;
    case 'clicked':
      return `NOTIFICATION_CLICKED_${onPlatform(platform)}${abbreviation}`;
    case 'cleared':
      return `NOTIFICATION_CLEARED_${onPlatform(platform)}${abbreviation}`;
    case 'control_group':
      return `${abbreviation}_CAMPAIGN_CONTROL_GROUP`;
    default:
      return unknownCase(kind);
  }
}

function onPlatform(platform: Platform | null): string {
  return platform === 'IOS' || platform === 'WEB' ? `${platform}_` : '';
}
