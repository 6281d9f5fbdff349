import { createHash } from 'node:crypto';
import type { Platform } from '../campaigns/content.ts';
import type { ControlGroup } from '../experiments/control-groups.ts';

/** What a receiver may ask for. */
export const streamedKinds = ['delivered', 'clicked', 'cleared', 'control_group'] as const;
export type StreamedKind = (typeof streamedKinds)[number];

/** What a receiver may be told of a device. */
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

/** An event as a batch keeps it: by ids, which are null once the user is erased. */
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
  /** Of the content that the device got, in the words of figures and files; absent where there is one for all. */
  variation?: string;
  locale?: string;
  controlGroup?: ControlGroup;
};

/**
 * The same for the same event, on every node, for every receiver and in every attempt (RFC 9562 §5.8: a UUID of our own
 * making), so that a receiver can drop a repeat.
 */
export function eventUuid(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
