import type { Clock } from '../clock.ts';
import { platforms } from '../domain/content/content.ts';
import type { Platform } from '../domain/content/content.ts';
import { adviseOnFailure } from '../domain/delivery/failures.ts';
import { ServiceError } from '../domain/errors.ts';
import { maxExportedDeliveries } from '../domain/limits/delivery.ts';
import { bucketCount } from '../domain/users/users.ts';
import { findCampaignSummary } from '../storage/campaigns/campaigns.ts';
import type { Database } from '../storage/database.ts';
import { findOldestDay } from '../storage/day-partitions.ts';
import type { DeliveryOutcome } from '../storage/ledger/deliveries.ts';
import {
  findLoggedDelivery,
  listLedgerDays,
  listLoggedDeliveries,
  nameLoggedDeliveries,
} from '../storage/ledger/delivery-log.ts';
import type { LoggedDelivery, LogKey, LogNames, LogPlace } from '../storage/ledger/delivery-log.ts';
import { listDeviceReports } from '../storage/ledger/interactions.ts';
import type { ReportedDevice, ReportLook, ReportPlace } from '../storage/ledger/interactions.ts';
import { findUsersByCustomerIds } from '../storage/users/users.ts';
import { requireWorkspace } from './workspaces.ts';

export const deliveryOutcomes = ['ACCEPTED', 'WAITING', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD'] as const;

export type DeliveryQuery = {
  workspaceId: string;
  campaignId?: string;
  customerId?: string;
  platform?: Platform;
  outcome?: DeliveryOutcome;
  code?: string;
  after?: DeliveryCursor;
};

/** Start of the next page: after a place in a day, or at the beginning of the day. */
export type DeliveryCursor = { day: string; place?: LogPlace };
export type ListedDelivery = Omit<LoggedDelivery, 'runNumber'> & LogNames;
export type DeliveryPage = {
  deliveries: ListedDelivery[];
  next: DeliveryCursor | undefined;
  /** YYYY-MM-DD: the oldest day in the ledger; earlier ones are not kept. */
  keptSince: string | undefined;
};

const deliveriesPerPage = 50;
const exportedAtOnce = 500;
// With a very selective filter, this many days are searched at once; the page continues from there.
const daysAtOnce = 31;
// Runs that are dated tomorrow in another zone are in tomorrow's partition.
const aheadMilliseconds = 48 * 3_600_000;

export type ConsoleDeliveries = ReturnType<typeof makeConsoleDeliveries>;

/** The ledger for the console. */
export function makeConsoleDeliveries({ database, clock }: { database: Database; clock: Clock }) {
  async function readPage({ after, ...query }: DeliveryQuery, size: number): Promise<DeliveryPage> {
    const { workspaceId } = query;
    await requireWorkspace(database, workspaceId);
    const user = query.customerId === undefined ? undefined : await findUser(query.customerId, workspaceId);
    const keptSince = await findOldestDay(database, 'deliveries');
    if (query.customerId !== undefined && !user) return { deliveries: [], next: undefined, keptSince };
    const until = after?.day ?? new Date(clock.now().getTime() + aheadMilliseconds).toISOString().slice(0, 10);
    const days = await listLedgerDays(database, { until, limit: daysAtOnce + 1 });
    const found: LoggedDelivery[] = [];
    for (const day of days.slice(0, daysAtOnce)) {
      const rows = await listLoggedDeliveries(database, {
        workspaceId,
        day,
        user,
        campaignId: query.campaignId,
        code: query.code,
        platforms: query.platform === undefined ? platforms : [query.platform],
        outcomes: query.outcome === undefined ? deliveryOutcomes : [query.outcome],
        after: day === after?.day ? after.place : undefined,
        // One more than is shown reveals whether there are more.
        limit: size + 1 - found.length,
      });
      found.push(...rows);
      if (found.length > size) break;
    }
    const shown = found.slice(0, size);
    const names = await nameLoggedDeliveries(database, { workspaceId, rows: shown });
    const deliveries = shown.map(({ runNumber: _, ...row }, number) => ({ ...row, ...names[number]! }));
    return { deliveries, next: nextOf({ found, shown, days }), keptSince };
  }

  return {
    /** Newest day first, and newest first within a day. @throws ServiceError NOT_FOUND */
    list: (query: DeliveryQuery): Promise<DeliveryPage> => readPage(query, deliveriesPerPage),

    /** Yields the same deliveries page by page, up to `maxExportedDeliveries`. @throws ServiceError NOT_FOUND */
    async *export(query: Omit<DeliveryQuery, 'after'>): AsyncGenerator<ListedDelivery[]> {
      let left = maxExportedDeliveries;
      for (let after: DeliveryCursor | undefined, isFirst = true; left > 0 && (isFirst || after); isFirst = false) {
        const page: DeliveryPage = await readPage(
          { ...query, ...(after ? { after } : {}) },
          Math.min(left, exportedAtOnce),
        );
        left -= page.deliveries.length;
        after = page.next;
        yield page.deliveries;
      }
    },

    /** Lists the devices that reported a view or click of a campaign. @throws ServiceError NOT_FOUND */
    listReports: (question: Parameters<typeof listReportedDevices>[1]) => listReportedDevices({ database }, question),

    /** @throws ServiceError NOT_FOUND */
    async read(key: LogKey) {
      const delivery = await findLoggedDelivery(database, key);
      if (!delivery) throw new ServiceError('NOT_FOUND');
      const { content, ...row } = delivery;
      const { platform, outcome, code } = row;
      const advice = outcome === 'ACCEPTED' || code === null ? undefined : adviseOnFailure({ platform, outcome, code });
      return { ...row, content: content[platform] ?? null, advice };
    },
  };

  async function findUser(customerId: string, workspaceId: string) {
    const [user] = await findUsersByCustomerIds(database, { workspaceId, customerIds: [customerId], limit: 1 });
    return user;
  }
}

type Found = { found: LoggedDelivery[]; shown: LoggedDelivery[]; days: string[] };

function nextOf({ found, shown, days }: Found): DeliveryCursor | undefined {
  const last = shown.at(-1);
  if (found.length > shown.length && last) {
    const { at: sentAt, runNumber, deviceRowId: deviceId } = last;
    return { day: last.day, place: { sentAt, runNumber, deviceId } };
  }
  const unseen = days[daysAtOnce];
  return unseen === undefined ? undefined : { day: unseen };
}

export type ReportedDevices = { devices: ReportedDevice[]; next: ReportPlace | undefined };
type Question = Pick<ReportLook, 'workspaceId' | 'campaignId' | 'kind' | 'platform'> & {
  after: ReportPlace | undefined;
};

const devicesPerPage = 50;
// For a campaign with few reports most buckets are empty, so this many are read in parallel.
const bucketsAtOnce = 16;

/**
 * Lists the devices that reported a view or click of a campaign, bucket by bucket: every page costs the same.
 *
 * @throws ServiceError NOT_FOUND
 */
async function listReportedDevices(
  { database }: { database: Database },
  { after, ...question }: Question,
): Promise<ReportedDevices> {
  const { workspaceId, campaignId: id } = question;
  if (!(await findCampaignSummary(database, { workspaceId, id }))) throw new ServiceError('NOT_FOUND');
  const found: ReportedDevice[] = [];
  for (let first = after?.bucket ?? 0; first < bucketCount && found.length <= devicesPerPage; first += bucketsAtOnce) {
    const buckets = Array.from({ length: Math.min(bucketsAtOnce, bucketCount - first) }, (_, step) => first + step);
    const looks = buckets.map((bucket) =>
      listDeviceReports(database, {
        ...question,
        bucket,
        after: bucket === after?.bucket ? after : undefined,
        // One more than is shown reveals whether there are more.
        limit: devicesPerPage + 1,
      }),
    );
    found.push(...(await Promise.all(looks)).flat());
  }
  const devices = found.slice(0, devicesPerPage);
  return { devices, next: found.length > devicesPerPage ? devices.at(-1) : undefined };
}
