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

/** Which of a campaign's contents was reported of: 0 and an empty text where there is one for all. */
export type ReportedVariant = { variation: number; locale: string };

/** What reports add to the figures of a campaign. */
export type FigureGain = Pick<ReportedMessage, 'workspaceId' | 'bucket' | 'campaignId' | 'platform' | 'kind'> &
  ReportedVariant & {
    reports: number;
    devices: number;
    /** Each once, though their device reported of another before. */
    messages: number;
  };

/** The same of one of its runs. */
export type RunGain = Pick<ReportedMessage, 'workspaceId' | 'runId' | 'bucket' | 'platform' | 'kind'> &
  ReportedVariant & { reports: number; messages: number };

/**
 * Which of these reports count, in their order: each digest once a run, device and kind, and at most `most` of them. A
 * device counts once in the figures of its campaign, platform and kind, however many runs it reports of.
 *
 * @returns the reports that count, those of them that are the first of their message and kind, and what they add
 * @param counted every row of these devices, campaigns and kinds, of whatever run
 */
export function selectNewReports<Report extends ReportedMessage & ReportedVariant & { digest: Buffer }>({
  reports,
  counted,
  most,
}: {
  reports: readonly Report[];
  counted: readonly CountedReports[];
  most: number;
}): { fresh: Report[]; firsts: Report[]; gains: FigureGain[]; runGains: RunGain[] } {
  const digestsOf = new Map<string, Set<string>>();
  const devices = new Set<string>();
  for (const row of counted) {
    digestsOf.set(runKey(row), new Set(row.digests.map((digest) => digest.toString('hex'))));
    devices.add(deviceKey(row));
  }
  const gains = new Map<string, FigureGain>();
  const runGains = new Map<string, RunGain>();
  const firsts = new Set<Report>();
  const fresh = reports.filter((report) => {
    const digests = digestsOf.get(runKey(report)) ?? new Set();
    digestsOf.set(runKey(report), digests);
    const digest = report.digest.toString('hex');
    if (digests.has(digest) || digests.size >= most) return false;
    if (digests.size === 0) firsts.add(report);
    digests.add(digest);
    const { workspaceId, runId, bucket, campaignId, platform, kind, variation, locale } = report;
    const figure = { workspaceId, bucket, campaignId, platform, kind, variation, locale };
    const key = Object.values(figure).join(' ');
    const gain = gains.get(key) ?? { ...figure, reports: 0, devices: 0, messages: 0 };
    gains.set(key, gain);
    gain.reports += 1;
    if (firsts.has(report)) gain.messages += 1;
    if (!devices.has(deviceKey(report))) gain.devices += 1;
    devices.add(deviceKey(report));
    const ofRun = { workspaceId, runId, bucket, platform, kind, variation, locale };
    const runGainKey = Object.values(ofRun).join(' ');
    const runGain = runGains.get(runGainKey) ?? { ...ofRun, reports: 0, messages: 0 };
    runGains.set(runGainKey, runGain);
    runGain.reports += 1;
    if (firsts.has(report)) runGain.messages += 1;
    return true;
  });
  return { fresh, firsts: [...firsts], gains: [...gains.values()], runGains: [...runGains.values()] };
}

const runKey = ({ workspaceId, bucket, campaignId, deviceId, kind, runId }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, runId].join(' ');

const deviceKey = ({ workspaceId, bucket, campaignId, deviceId, kind, platform }: ReportedMessage): string =>
  [workspaceId, bucket, campaignId, deviceId, kind, platform].join(' ');
