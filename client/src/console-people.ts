import type { ConsoleCaller } from './console-caller.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

export type FoundPerson = {
  id: string;
  customerId: string;
  updatedAt: string;
  devices: number;
  /** What the word turned out to be. */
  foundBy: 'USER_ID' | 'CARILLON_ID' | 'DEVICE_TOKEN' | 'ATTRIBUTE';
  /** The name of the attribute that has the value. */
  attribute: string | null;
};

export type PersonDevice = {
  id: string;
  /** The app's name of it. */
  deviceId: string;
  platform: Platform;
  pushId: string;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  registeredAt: string;
  goneAt: string | null;
  /** The provider's word. */
  goneReason: string | null;
  blockedAt: string | null;
  blockReason: string | null;
};

export type PersonMessage = {
  runId: string;
  campaignId: string;
  campaignName: string;
  /** Null: it is there no more. */
  deviceId: string | null;
  platform: Platform;
  outcome: string;
  code: string | null;
  attempts: number;
  at: string;
};

export type Erasure = { id: string; requestedAt: string; dueAt: string };

export type Person = {
  id: string;
  customerId: string;
  /** Customer ids that mean this person since they were merged. */
  mergedCustomerIds: string[];
  attributes: Record<string, unknown>;
  /** Marked for tests of campaigns. */
  isTest: boolean;
  createdAt: string;
  updatedAt: string;
  devices: PersonDevice[];
  /** Of files and of partners; those of filters are worked out when a campaign starts. */
  segments: { id: string; name: string; kind: 'FILE' | 'COHORT' }[];
  /** Newest first, at most 50. */
  messages: PersonMessage[];
  /** The person is to be erased. */
  erasure: Erasure | null;
};

export type TestPerson = Omit<FoundPerson, 'foundBy' | 'attribute'>;

export type PersonMoment = {
  /** Names it among the moments of the person. */
  key: string;
  at: string;
  kind:
    | 'EVENT'
    | 'MESSAGE'
    | 'IMPRESSION'
    | 'CLICK'
    | 'CLOSE'
    | 'DEVICE_REGISTERED'
    | 'DEVICE_BLOCKED'
    | 'DEVICE_GONE'
    | 'CHANGED'
    | 'MERGED'
    | 'CREATED';
  /** Of an event, a campaign, an action of the console, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;
  /** The app's name of it; null when none is concerned or it is there no more. */
  deviceId: string | null;
  platform: Platform | null;
  outcome: string | null;
  code: string | null;
  /** Attributes of an event, the button of a click, what a change was about. */
  detail: Record<string, unknown>;
};

export type DeviceAction = 'block' | 'unblock' | 'opt-out' | 'opt-in' | 'remove';

/** As the data API takes it: `platform`, `push_id`, and what else it knows of a device. */
export type NewDevice = { deviceId: string; attributes: Record<string, unknown> };

type Key = { workspaceId: string; id: string };

export type ConsolePeople = {
  /** By user id, device token or an attribute's value; at most 25. */
  search(query: { workspaceId: string; q: string }): Promise<FoundPerson[]>;
  /** @throws CarillonError 404 */
  read(key: Key): Promise<Person>;
  /** What happened, newest first; `next` is the `after` of the page behind. */
  listMoments(page: Key & { after?: string }): Promise<{ moments: PersonMoment[]; next: string | null }>;
  /** Those marked for tests, at most 100. */
  listForTests(workspaceId: string): Promise<TestPerson[]>;
  /** Somebody new, or somebody known whose attributes change. */
  add(person: {
    workspaceId: string;
    customerId: string;
    attributes?: Record<string, unknown>;
  }): Promise<{ id: string }>;
  /** A value replaces, null removes. */
  changeAttributes(change: Key & { attributes: Record<string, unknown> }): Promise<void>;
  markForTests(mark: Key & { isTest: boolean }): Promise<void>;
  addDevice(device: Key & NewDevice): Promise<void>;
  changeDevice(change: Key & { deviceRowId: string; action: DeviceAction }): Promise<void>;
  /** Erased when the delay is over. */
  erase(key: Key): Promise<Erasure>;
};

export function makeConsolePeople({ read, send }: ConsoleCaller): ConsolePeople {
  const at = (path: string, workspaceId: string) => `${path}?${new URLSearchParams({ workspaceId })}`;
  return {
    listMoments: ({ workspaceId, id, after }) =>
      read(`people/${id}/timeline`, { workspaceId, ...(after === undefined ? {} : { after }) }),
    listForTests: async (workspaceId) =>
      (await read<{ people: TestPerson[] }>('people/for-tests', { workspaceId })).people,
    add: ({ workspaceId, ...person }) => send('POST', at('people', workspaceId), person),
    changeAttributes: ({ workspaceId, id, attributes }) =>
      send('PATCH', at(`people/${id}/attributes`, workspaceId), { attributes }),
    markForTests: ({ workspaceId, id, isTest }) => send('PUT', at(`people/${id}/test`, workspaceId), { isTest }),
    addDevice: ({ workspaceId, id, ...device }) => send('POST', at(`people/${id}/devices`, workspaceId), device),
    changeDevice: ({ workspaceId, id, deviceRowId, action }) =>
      send('POST', at(`people/${id}/devices/${deviceRowId}/${action}`, workspaceId)),
    search: async (query) => (await read<{ people: FoundPerson[] }>('people', query)).people,
    read: async ({ workspaceId, id }) => (await read<{ person: Person }>(`people/${id}`, { workspaceId })).person,
    erase: async ({ workspaceId, id }) =>
      (await send<{ erasure: Erasure }>('POST', `people/${id}/erase?${new URLSearchParams({ workspaceId })}`)).erasure,
  };
}
