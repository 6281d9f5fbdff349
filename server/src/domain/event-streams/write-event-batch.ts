import type { Platform } from '../campaigns/content.ts';
import type { StreamedDeviceAttribute, StreamedEvent } from './streamed-event.ts';
import { unknownCase } from '../unknown-case.ts';

export type StreamedCampaign = { id: string; name: string; type: string; channel: string };
export type StreamedUser = { customerId: string; attributes: Record<string, unknown> };
export type StreamedDevice = Record<StreamedDeviceAttribute, string | null> & { userId: string };

/** What is known now of those whom a batch names. */
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
  /** The service's, as in names of headers. */
  abbreviation: string;
};

/** The body that a receiver is posted (fact 7). Who was erased since is named nowhere in it. */
export function writeEventBatch(batch: BatchToWrite, facts: BatchFacts): string {
  const abbreviation = batch.abbreviation.toUpperCase();
  return JSON.stringify({
    app_name: batch.appName,
    source: 'CARILLON',
    [`${abbreviation.toLowerCase()}_request_id`]: batch.id,
    events: batch.events.map((event) => writeEvent(event, { batch, facts, abbreviation })),
  });
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

/** What the event does not have is not written: JSON has no place for `undefined`. */
function ownAttributes({ variation, locale, action, controlGroup }: StreamedEvent) {
  return { variation, locale, action, control_group: controlGroup };
}

/** Names of fact 7: a phone of Apple's tells nobody that it received a message, so it has been sent. */
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
