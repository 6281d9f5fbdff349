import type { ConsoleCaller } from './console-caller.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

export type DeliveryFilters = {
  campaignId?: string;
  customerId?: string;
  platform?: string;
  outcome?: string;
  /** The provider's word, or ours. */
  code?: string;
  /** `next` of the page before. */
  after?: string;
};

/** Names a row of the ledger. */
export type DeliveryKey = { day: string; bucket: number; runId: string; deviceRowId: string };

export type LoggedDelivery = DeliveryKey & {
  personId: string;
  platform: Platform;
  outcome: string;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  at: string;
  /** Of one that waits. */
  retryAt: string | null;
  campaignId: string;
  campaignName: string;
  /** Null: the person, the device is there no more. */
  customerId: string | null;
  deviceId: string | null;
};

export type DeliveryPage = { deliveries: LoggedDelivery[]; next: string | null };

export type DeliveryDetail = Omit<LoggedDelivery, 'personId'> & {
  userId: string;
  pushId: string | null;
  runStatus: string;
  /** Attempts end then. */
  sendUntil: string;
  /** What the campaign says to this platform, before it is made personal. */
  content: Record<string, unknown> | null;
  settings: Record<string, unknown>;
  advice?: string;
};

export type ConsoleDeliveries = {
  /** Newest first. @throws CarillonError */
  list(query: DeliveryFilters & { workspaceId: string }): Promise<DeliveryPage>;
  /** Where the filtered rows are downloaded as CSV, at most 10,000, for a link. */
  fileUrl(query: Omit<DeliveryFilters, 'after'> & { workspaceId: string }): string;
  /** @throws CarillonError 404 */
  read(key: DeliveryKey & { workspaceId: string }): Promise<DeliveryDetail>;
};

export function makeConsoleDeliveries({ read }: ConsoleCaller): ConsoleDeliveries {
  return {
    list: (query) => read('deliveries', { ...query }),
    fileUrl: (query) => `/console/api/deliveries.csv?${new URLSearchParams({ ...query })}`,
    read: async ({ workspaceId, day, bucket, runId, deviceRowId }) => {
      const path = `deliveries/${day}/${bucket}/${runId}/${deviceRowId}`;
      return (await read<{ delivery: DeliveryDetail }>(path, { workspaceId })).delivery;
    },
  };
}
