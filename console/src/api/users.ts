import type { ConsoleCaller, Key } from './console-caller.ts';

export type DeviceAction = 'block' | 'unblock' | 'opt-out' | 'opt-in' | 'keep' | 'remove';

/** A device as the data API accepts it: `platform`, `push_id` and other attributes. */
type NewDevice = { deviceId: string; attributes: Record<string, unknown> };
type NewUser = { workspaceId: string; customerId: string; attributes?: Record<string, unknown> };

export function makeUserCalls({ ask }: ConsoleCaller) {
  const of = ({ workspaceId, id }: Key) => ({ params: { id }, query: { workspaceId } });
  return {
    /** Finds users by user id, device token or attribute value, at most 25. */
    search: async (query: { workspaceId: string; q: string }) => (await ask('GET people', { query })).users,
    /** A page of users, newest first: all, or those with a part in their id, name or email; `next` is the `after` of the next page. */
    list: (query: { workspaceId: string; part?: string; after?: string }) => ask('GET people/list', { query }),
    /** @throws CarillonError 404 */
    read: async (key: Key) => (await ask('GET people/:id', of(key))).user,
    /** Events of a user, newest first; `next` is the `after` of the next page. */
    listTimeline: ({ workspaceId, id, after }: Key & { after?: string }) =>
      ask('GET people/:id/timeline', { params: { id }, query: { workspaceId, after } }),
    /** Devices whose responses usually mean a dead token; `next` is the `after` of the next page. */
    listSuspectedDevices: (query: { workspaceId: string; after?: string | undefined }) =>
      ask('GET people/suspected-devices', { query }),
    /** Users marked for tests, at most 100. */
    listForTests: async (workspaceId: string) => (await ask('GET people/for-tests', { query: { workspaceId } })).users,
    /** Creates a user, or changes the attributes of a known one. */
    add: ({ workspaceId, ...user }: NewUser) => ask('POST people', { query: { workspaceId }, body: user }),
    /** A value replaces the attribute; null removes it. */
    changeAttributes: ({ attributes, ...key }: Key & { attributes: Record<string, unknown> }) =>
      ask('PATCH people/:id/attributes', { ...of(key), body: { attributes } }),
    /** All topics of the workspace, each as the user has it. */
    readTopics: async (key: Key) => (await ask('GET people/:id/topics', of(key))).topics,
    /** Topics that are not named stay as they are. */
    setTopics: async ({ topics, ...key }: Key & { topics: Record<string, boolean> }) =>
      (await ask('PATCH people/:id/topics', { ...of(key), body: { topics } })).topics,
    markForTests: ({ isTest, ...key }: Key & { isTest: boolean }) =>
      ask('PUT people/:id/test', { ...of(key), body: { isTest } }),
    addDevice: ({ workspaceId, id, ...device }: Key & NewDevice) =>
      ask('POST people/:id/devices', { ...of({ workspaceId, id }), body: device }),
    changeDevice: ({ workspaceId, id, deviceRowId, action }: Key & { deviceRowId: string; action: DeviceAction }) =>
      ask(`POST people/:id/devices/:deviceRowId/${action}`, { params: { id, deviceRowId }, query: { workspaceId } }),
    /** Schedules the erasure after the configured delay. */
    erase: async (key: Key) => (await ask('POST people/:id/erase', of(key))).erasure,
    /** Cancels an erasure that has not begun. @throws CarillonError 404 if none is scheduled */
    cancelErasure: (key: Key) => ask('DELETE people/:id/erasure', of(key)),
  };
}
