import { ServiceError } from '../../domain/errors.ts';
import { bucketCount } from '../../domain/users/bucket.ts';
import { findCampaignRecord } from '../../storage/campaigns/campaigns.ts';
import type { Database } from '../../storage/database.ts';
import { listDeviceReports } from '../../storage/ledger/device-reports.ts';
import type { ReportedDevice, ReportLook, ReportPlace } from '../../storage/ledger/device-reports.ts';

export type ReportedDevices = { devices: ReportedDevice[]; next: ReportPlace | undefined };
type Question = Pick<ReportLook, 'workspaceId' | 'campaignId' | 'kind' | 'platform'> & {
  after: ReportPlace | undefined;
};

const perPage = 50;
// Of a campaign with few reports most buckets have none: so many are looked into side by side.
const bucketsAtOnce = 16;

/** Who saw or clicked a campaign, bucket by bucket: a page costs the same wherever it is. @throws ServiceError NOT_FOUND */
export async function listReportedDevices(
  { database }: { database: Database },
  { after, ...question }: Question,
): Promise<ReportedDevices> {
  const { workspaceId, campaignId: id } = question;
  if (!(await findCampaignRecord(database, { workspaceId, id }))) throw new ServiceError('NOT_FOUND');
  const found: ReportedDevice[] = [];
  for (let first = after?.bucket ?? 0; first < bucketCount && found.length <= perPage; first += bucketsAtOnce) {
    const buckets = Array.from({ length: Math.min(bucketsAtOnce, bucketCount - first) }, (_, step) => first + step);
    const looks = buckets.map((bucket) =>
      listDeviceReports(database, {
        ...question,
        bucket,
        after: bucket === after?.bucket ? after : undefined,
        // One more than is shown says whether there is more.
        limit: perPage + 1,
      }),
    );
    found.push(...(await Promise.all(looks)).flat());
  }
  const devices = found.slice(0, perPage);
  return { devices, next: found.length > perPage ? devices.at(-1) : undefined };
}
