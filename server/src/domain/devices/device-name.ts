/** How a caller names a device of a user: a push address, an advertising id, the caller's own name of it, or our id. */
export type DeviceName = { kind: 'push-id' | 'gaid' | 'unique-id' | 'row-id'; value: string };

/**
 * The words of `POST /v1/devices/manage` (fact 5). `unique_id` and `device_unique_id` are the `device_id` or the `idfv`
 * a device was registered with.
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
