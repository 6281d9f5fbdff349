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

type Key = { workspaceId: string; id: string };

export type ConsolePeople = {
  /** By user id, device token or an attribute's value; at most 25. */
  search(query: { workspaceId: string; q: string }): Promise<FoundPerson[]>;
  /** @throws CarillonError 404 */
  read(key: Key): Promise<Person>;
  /** Erased when the delay is over. */
  erase(key: Key): Promise<Erasure>;
};

export function makeConsolePeople({ read, send }: ConsoleCaller): ConsolePeople {
  return {
    search: async (query) => (await read<{ people: FoundPerson[] }>('people', query)).people,
    read: async ({ workspaceId, id }) => (await read<{ person: Person }>(`people/${id}`, { workspaceId })).person,
    erase: async ({ workspaceId, id }) =>
      (await send<{ erasure: Erasure }>('POST', `people/${id}/erase?${new URLSearchParams({ workspaceId })}`)).erasure,
  };
}
