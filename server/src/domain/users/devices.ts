import { createHash } from 'node:crypto';
import type { Identifier } from './users.ts';

export type DeviceIdentity = { pushId: string; gaid?: string | null | undefined; idfv?: string | null | undefined };

/**
 * Returns the identifiers that a device contributes to its user: push address and advertising ids, under reserved names
 * that no attribute can have. An address too long for a lookup (a browser's subscription) is stored as its SHA-256.
 */
export function deviceIdentifiersOf({ pushId, gaid, idfv }: DeviceIdentity): Identifier[] {
  const found: Identifier[] = [{ attribute: 'device:push_id', type: 'string', value: pushIdValue(pushId) }];
  if (gaid) found.push({ attribute: 'device:gaid', type: 'string', value: gaid });
  if (idfv) found.push({ attribute: 'device:idfv', type: 'string', value: idfv });
  return found;
}

export function pushIdValue(pushId: string): string {
  return Buffer.byteLength(pushId) <= 512 ? pushId : createHash('sha256').update(pushId).digest('hex');
}

/** Returns a push address as a key of fixed length, which is the same for every user. */
export function addressHash(pushId: string): Buffer {
  return createHash('sha256').update(pushId, 'utf8').digest();
}

/** How a caller identifies a device of a user: a push address, an advertising id, the caller's own name for it, or our id. */
export type DeviceName = { kind: 'push-id' | 'gaid' | 'unique-id' | 'row-id'; value: string };

/**
 * Maps the field names of `POST /v1/devices/manage` to kinds of device names (fact 5). `unique_id` and `device_unique_id`
 * hold the `device_id` or the `idfv` that a device was registered with.
 *
 * @param prefixes spellings of the vendor's abbreviation, lower-case
 */
export function deviceNameKinds(prefixes: readonly string[]): Map<string, DeviceName['kind']> {
  return new Map<string, DeviceName['kind']>([
    ...prefixes.map((prefix) => [`${prefix}_gaid`, 'gaid'] as const),
    ['push_id', 'push-id'],
    ['unique_id', 'unique-id'],
    ['device_unique_id', 'unique-id'],
  ]);
}

/** The state of a device: only active devices get messages. */
export type DeviceState = 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';

/** A suspicion that a device is unreachable: `sends` messages failed with errors that usually mean a dead address. */
export type Suspicion = {
  /** The provider's code in the last send. */
  code: string;
  sends: number;
  since: Date;
  lastAt: Date;
};

/** Failed sends after which a suspected device may leave the audience. */
export const suspicionSends = 3;
/** Minimum hours between the first and the last of these sends. */
export const suspicionHours = 72;
/** A host name that does not resolve counts once in this many hours, because its operator may fix it within a day. */
export const unresolvedHours = 24;

const hourMilliseconds = 3_600_000;

/** Returns the suspicion after another failed send. Pure. */
export function nextSuspicion(last: Suspicion | undefined, { code, at }: { code: string; at: Date }): Suspicion {
  if (!last) return { code, sends: 1, since: at, lastAt: at };
  const isTooSoon =
    code === 'HOST_NOT_FOUND' && at.getTime() - last.lastAt.getTime() < unresolvedHours * hourMilliseconds;
  if (isTooSoon) return last;
  // The table stores a small number; more sends change nothing.
  return { ...last, code, sends: Math.min(last.sends + 1, 1_000), lastAt: at };
}

/** True if a device leaves the audience: enough sends failed over enough time (decision 0064). Pure. */
export function isDroppedSuspect({ sends, since, lastAt }: Suspicion): boolean {
  return sends >= suspicionSends && lastAt.getTime() - since.getTime() >= suspicionHours * hourMilliseconds;
}

/** A suspicion, and whether its device has left the audience because of it. */
export type ReportedSuspicion = Suspicion & { hasLeft: boolean };

/**
 * Returns a suspicion to report, or null if a message was accepted since, because the next error then starts a new
 * count. A device that was marked as gone for another reason is not reported here. Pure.
 */
export function describeSuspicion(
  { code, sends, since, lastAt }: Suspicion,
  { state, isRecovered }: { state: DeviceState; isRecovered: boolean },
): ReportedSuspicion | null {
  const hasLeft = isDroppedSuspect({ code, sends, since, lastAt });
  if (isRecovered || (state === 'GONE' && !hasLeft)) return null;
  return { code, sends, since, lastAt, hasLeft };
}
