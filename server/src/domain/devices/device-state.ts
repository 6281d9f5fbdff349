/** What a device is: only an active one is sent to. */
export type DeviceState = 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
