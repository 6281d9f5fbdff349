import { defaultAppId } from '../../domain/apps/app.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { providerOf } from '../../domain/delivery/provider-name.ts';
import { eventPlatforms } from '../../domain/events/event-fields.ts';
import type { DeliveryToExport, DeviceToExport, EventToExport, UserToExport } from '../../storage/ledger/exports.ts';

/** A row as it is written; `import` takes back what it knows of it. */
export type ExportedRow = Record<string, unknown>;

/** Columns of CSV files; `:json` and `:number` tell an import of what type the cells are. */
export const columnsOf = {
  users: ['customer_id', 'attributes:json'],
  devices: [
    ...[
      'customer_id',
      'device_id',
      'platform',
      'push_id',
      'push_id_type',
      'push_provider',
      'app_id',
      'svc_push_opted',
      'svc_push_provisional_opted',
      'model',
    ],
    ...[
      'app_version',
      'os_version',
      'svc_gaid',
      'idfv',
      'locale',
      'badge_count',
      'state',
      'registered_at',
      'block_reason',
    ],
    'client_reference_id',
  ],
  events: [
    ...['customer_id', 'action', 'user_time', 'device_id', 'platform', 'app_version', 'user_timezone_offset'],
    'attributes:json',
  ],
  segment: ['customer_id'],
  ledger: [
    ...[
      'run_id',
      'customer_id',
      'device_id',
      'platform',
      'app_id',
      'push_provider',
      'outcome',
      'code',
      'provider_message_id',
      'attempts',
      'variation',
      'locale',
    ],
    'sent_at',
  ],
} as const;

const platformNames: Record<Platform, string> = { ANDROID: 'ANDROID', IOS: 'iOS', WEB: 'web' };
const eventPlatformNames = new Map<string, string>(Object.entries(eventPlatforms).map(([name, word]) => [word, name]));

export function presentUser({ customerId, id, attributes, createdAt, updatedAt }: UserToExport): ExportedRow {
  return { customer_id: customerId, id, attributes, created_at: createdAt, updated_at: updatedAt };
}

/** A blocked device's opt-in is the one it has when it is unblocked. */
export function presentDevice(device: DeviceToExport): ExportedRow {
  return {
    customer_id: device.customerId,
    device_id: device.deviceId,
    platform: platformNames[device.platform],
    push_id: device.pushId,
    push_id_type: device.pushIdType ?? 'token',
    push_provider: providerOf(device),
    app_id: device.appId ?? defaultAppId,
    svc_push_opted: (device.blockedState ?? device.state) === 'OPTED_OUT' ? 'False' : 'True',
    svc_push_provisional_opted: device.isProvisional ? 'True' : 'False',
    model: device.model,
    app_version: device.appVersion,
    os_version: device.osVersion,
    svc_gaid: device.gaid,
    idfv: device.idfv,
    locale: device.locale,
    badge_count: device.badgeCount,
    state: device.state,
    registered_at: device.registeredAt,
    block_reason: device.blockReason,
    client_reference_id: device.blockReference,
  };
}

export function presentEvent(event: EventToExport): ExportedRow {
  return {
    customer_id: event.customerId,
    action: event.name,
    user_time: event.occurredAt,
    device_id: event.deviceId,
    platform: event.platform === null ? null : eventPlatformNames.get(event.platform),
    app_version: event.appVersion,
    user_timezone_offset: event.utcOffsetSeconds,
    attributes: event.attributes,
    received_at: event.receivedAt,
  };
}

export function presentDelivery(delivery: DeliveryToExport): ExportedRow {
  return {
    run_id: delivery.runId,
    customer_id: delivery.customerId,
    device_id: delivery.deviceId,
    platform: delivery.platform,
    app_id: delivery.appId,
    push_provider: delivery.provider,
    outcome: delivery.outcome,
    code: delivery.code,
    provider_message_id: delivery.providerMessageId,
    attempts: delivery.attempts,
    variation: delivery.variation,
    locale: delivery.locale,
    sent_at: delivery.sentAt,
  };
}
