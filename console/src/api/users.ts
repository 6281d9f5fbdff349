import type { ConsoleCaller, Key } from './console-caller.ts';

export type DeviceAction = 'block' | 'unblock' | 'opt-out' | 'opt-in' | 'keep' | 'remove';

/** As the data API takes it: `platform`, `push_id`, and what else it knows of a device. */
type NewDevice = { deviceId: string; attributes: Record<string, unknown> };
type NewUser = { workspaceId: string; customerId: string; attributes?: Record<string, unknown> };

export function makeUserCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** By user id, device token or an attribute's value; at most 25. */
    search: async (query: { workspaceId: string; q: string }) => (await ask('GET people', { query })).users,
    /** @throws CarillonError 404 */
    read: async (key: Key) => (await ask('GET people/:id', of(key))).user,
    /** What happened, newest first; `next` is the `after` of the next page. */
    listTimeline: ({ workspaceId, id, after }: Key & { after?: string }) =>
      ask('GET people/:id/timeline', { params: { id }, query: { workspaceId, after } }),
    /** Devices whose answers usually mean a dead address; `next` is the `after` of the next page. */
    listSuspectedDevices: (query: { workspaceId: string; after?: string | undefined }) =>
      ask('GET people/suspected-devices', { query }),
    /** Those marked for tests, at most 100. */
    listForTests: async (workspaceId: string) => (await ask('GET people/for-tests', { query: { workspaceId } })).users,
    /** A new user, or a known one whose attributes change. */
    add: ({ workspaceId, ...user }: NewUser) => ask('POST people', { query: { workspaceId }, body: user }),
    /** A value replaces, null removes. */
    changeAttributes: ({ attributes, ...key }: Key & { attributes: Record<string, unknown> }) =>
      ask('PATCH people/:id/attributes', { ...of(key), body: { attributes } }),
    markForTests: ({ isTest, ...key }: Key & { isTest: boolean }) =>
      ask('PUT people/:id/test', { ...of(key), body: { isTest } }),
    addDevice: ({ workspaceId, id, ...device }: Key & NewDevice) =>
      ask('POST people/:id/devices', { ...of({ workspaceId, id }), body: device }),
    changeDevice: ({ workspaceId, id, deviceRowId, action }: Key & { deviceRowId: string; action: DeviceAction }) =>
      ask(`POST people/:id/devices/:deviceRowId/${action}`, { params: { id, deviceRowId }, query: { workspaceId } }),
    /** Erased when the delay is over. */
    erase: async (key: Key) => (await ask('POST people/:id/erase', of(key))).erasure,
    /** As long as it has not begun. @throws CarillonError 404 when none waits */
    cancelErasure: (key: Key) => ask('DELETE people/:id/erasure', of(key)),
  };
}
