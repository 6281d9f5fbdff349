import type { ConsoleCaller, Key } from './console-caller.ts';
import { addressOf } from './console-caller.ts';
import type { DeliveryKey } from './generated/deliveries.ts';

export type DeliveryFilters = {
  campaignId?: string;
  customerId?: string;
  platform?: string;
  outcome?: string;
  /** The provider's code, or ours. */
  code?: string;
  /** The `next` of the previous page. */
  after?: string;
};

type ReportQuery = Key & {
  kind: 'IMPRESSION' | 'CLICK';
  platform?: string | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
};

type Explained = { workspaceId: string; campaignId: string; customerId: string; runId?: string };

export function makeDeliveryCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: (query: DeliveryFilters & { workspaceId: string }) => ask('GET deliveries', { query }),
    /** The address of the filtered rows as CSV, at most 10,000. */
    fileUrl: (query: Omit<DeliveryFilters, 'after'> & { workspaceId: string }) => addressOf('deliveries.csv', query),
    /** @throws CarillonError 404 */
    read: async ({ workspaceId, day, bucket, userId, runId, deviceRowId }: DeliveryKey & { workspaceId: string }) => {
      const params = { day, bucket: String(bucket), userId, runId, deviceRowId };
      const route = 'GET deliveries/:day/:bucket/:userId/:runId/:deviceRowId';
      return (await ask(route, { params, query: { workspaceId } })).delivery;
    },
    /** Lists the users who saw or clicked a campaign. @throws CarillonError 404 */
    listReports: ({ workspaceId, id, ...query }: ReportQuery) =>
      ask('GET campaigns/:id/reports', { params: { id }, query: { workspaceId, ...query } }),
    /** Explains why a user got a campaign or not. @throws CarillonError 404 for an unknown campaign */
    explain: async (query: Explained) => (await ask('GET explain', { query })).explanation,
  };
}
