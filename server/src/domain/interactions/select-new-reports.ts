import type { Platform } from '../campaigns/content.ts';
import type { StoredInteractionKind } from './interaction.ts';

/** Whose reports these are, of one kind. */
type ReportedMessage = {
  workspaceId: string;
  bucket: number;
  campaignId: string;
  deviceId: string;
  kind: StoredInteractionKind;
  runId: string;
  platform: Platform;
};

/** What was counted of a device before, in one run of the campaign. */
export type CountedReports = ReportedMessage & { digests: readonly Buffer[] };

/** What reports add to the figures of a campaign. */
export type FigureGain = Pick<ReportedMessage, 'workspaceId' | 'bucket' | 'campaignId' | 'platform' | 'kind'> & {
  reports: number;
  devices: number;
};

/**
 * Which of these reports count, in their order: each digest once a run, device and kind, and at most `most` of them. A
 * device counts once in the figures of its campaign, platform and kind, however many runs it reports of.
 *
 * @param counted every row of these devices, campaigns and kinds, of whatever run
 */
export function selectNewReports<Report extends ReportedMessage & { digest: Buffer }>({
  reports,
  counted,
  most,
}: {
  reports: readonly Report[];
  counted: readonly CountedReports[];
  most: number;
}): { fresh: Report[]; gains: FigureGain[] } {
  const digestsOf = new Map<string, Set<string>>();
  const devices = new Set<string>();
  for (const row of counted) {
    digestsOf.set(runKey(row), new Set(row.digests.map((digest) => digest.toString('hex'))));
    devices.add(deviceKey(row));
  }
  const gains = new Map<string, FigureGain>();
  const fresh = reports.filter((report) => {
    const digests = digestsOf.get(runKey(report)) ?? new Set();
    digestsOf.set(runKey(report), digests);
    const digest = report.digest.toString('hex');
    if (digests.has(digest) || digests.size >= most) return false;
    digests.add(digest);
    const { workspaceId, bucket, campaignId, platform, kind } = report;
    const key = [workspaceId, bucket, campaignId, platform, kind].join(' ');
    const gain = gains.get(key) ?? { workspaceId, bucket, campaignId, platform, kind, reports: 0, devices: 0 };
    gains.set(key, gain);
    gain.reports += 1;
    if (!devices.has(deviceKey(report))) gain.devices += 1;
    devices.add(deviceKey(report));
    return true;
  });
  return { fresh, gains: [...gains.values()] };
}

const runKey = ({ workspaceId, bucket, campaignId, deviceId, kind, runId }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, runId].join(' ');

const deviceKey = ({ workspaceId, bucket, campaignId, deviceId, kind, platform }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, platform].join(' ');
