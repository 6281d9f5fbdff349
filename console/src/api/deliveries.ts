import type { ConsoleCaller, Key } from './console-caller.ts';
import { addressOf } from './console-caller.ts';
import type { DeliveryKey } from './generated/deliveries.ts';

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

type ReportQuery = Key & {
  kind: 'IMPRESSION' | 'CLICK';
  platform?: string | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
};

type Explained = { workspaceId: string; campaignId: string; customerId: string; runId?: string };

export function makeDeliveryCalls({ ask }: ConsoleCaller) {
  return {
    /** Newest first. */
    list: (query: DeliveryFilters & { workspaceId: string }) => ask('GET deliveries', { query }),
    /** Where the filtered rows are downloaded as CSV, at most 10,000, for a link. */
    fileUrl: (query: Omit<DeliveryFilters, 'after'> & { workspaceId: string }) => addressOf('deliveries.csv', query),
    /** @throws CarillonError 404 */
    read: async ({ workspaceId, day, bucket, userId, runId, deviceRowId }: DeliveryKey & { workspaceId: string }) => {
      const params = { day, bucket: String(bucket), userId, runId, deviceRowId };
      const route = 'GET deliveries/:day/:bucket/:userId/:runId/:deviceRowId';
      return (await ask(route, { params, query: { workspaceId } })).delivery;
    },
    /** Who saw or clicked a campaign. @throws CarillonError 404 */
    listReports: ({ workspaceId, id, ...query }: ReportQuery) =>
      ask('GET campaigns/:id/reports', { params: { id }, query: { workspaceId, ...query } }),
    /** Why a user got a campaign or did not. @throws CarillonError 404 for an unknown campaign */
    explain: async (query: Explained) => (await ask('GET explain', { query })).explanation,
  };
}
