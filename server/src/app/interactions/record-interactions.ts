import type { InteractionKind, StoredInteractionKind } from '../../domain/interactions/interaction.ts';
import { localeName } from '../../domain/experiments/variants.ts';
import { maxReports } from '../../domain/interactions/limits.ts';
import { selectNewReports } from '../../domain/interactions/select-new-reports.ts';
import type { InteractionSubject } from '../../domain/interactions/interaction-token.ts';
import { eventUuid } from '../../domain/event-streams/streamed-event.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { markReports } from '../../storage/event-streams/stream-marks.ts';
import type { ReportMark } from '../../storage/event-streams/stream-marks.ts';
import { findErasedDevices } from '../../storage/users/erasures.ts';
import {
  addCampaignInteractions,
  addDeviceReports,
  addRunInteractions,
  findCountedReports,
  findReportedRuns,
  holdReports,
} from '../../storage/ledger/interactions.ts';
import type { DeviceReport } from '../../storage/ledger/interactions.ts';
import { addLearned } from '../../storage/runs/run-variations.ts';

export type ReceivedReport = {
  subject: InteractionSubject;
  kind: InteractionKind;
  action: string | null;
  isLowered?: boolean | undefined;
  digest: Buffer;
  at: Date;
};

/**
 * Counts a batch of reports in one transaction; repeats, in the batch or of earlier ones, count once, and those of
 * devices whose people were erased not at all, nor those of runs that began before `since`.
 *
 * @returns for each report whether its run is known
 */
export async function recordInteractions(
  { database, since }: { database: Database; since: Date },
  received: ReceivedReport[],
): Promise<boolean[]> {
  const ids = [...new Set(received.map(({ subject }) => subject.runId))];
  const runs = new Map((await findReportedRuns(database, { ids, since })).map((run) => [run.id, run]));
  const reports = received.map(({ subject, kind, action, isLowered, digest }): DeviceReport | undefined => {
    const run = runs.get(subject.runId);
    if (run?.workspaceId !== subject.workspaceId) return undefined;
    const { variant = { variation: 0, locale: 0 }, ...message } = subject;
    const reported = { variation: variant.variation, locale: localeName(run.locales ?? undefined, variant) };
    return { ...message, ...reported, campaignId: run.campaignId, kind: storedKinds[kind], action, isLowered, digest };
  });
  const known = await withoutErased(
    database,
    reports.filter((report) => report !== undefined),
  );
  if (known.length > 0) {
    await inTransaction(database, async (tx) => {
      await holdReports(tx, known);
      const counted = await findCountedReports(tx, known);
      const { fresh, firsts, gains, runGains } = selectNewReports({ reports: known, counted, most: maxReports });
      if (fresh.length === 0) return;
      await addDeviceReports(tx, { reports: fresh, at: received[0]!.at });
      await addCampaignInteractions(tx, gains);
      await addRunInteractions(tx, runGains);
      const clicks = firsts.filter(
        ({ kind, runId, variation }) => kind === 'CLICK' && variation > 0 && runs.get(runId)!.learnsBy === 'CLICKS',
      );
      await addLearned(
        tx,
        clicks.map(({ workspaceId, runId, bucket, variation }) => ({
          ...{ workspaceId, runId, bucket, variation },
          ...{ trials: 0, successes: 1 },
        })),
      );
      await markReports(tx, { marks: fresh.flatMap(markOf), at: received[0]!.at });
    });
  }
  return reports.map((report) => report !== undefined);
}

/** What the streams of the workspace are told; that a message was shown is no event of theirs. */
function markOf({ kind, digest, variation, locale, ...report }: DeviceReport): ReportMark[] {
  const { bucket, workspaceId, runId, deviceId, platform, action } = report;
  if (kind === 'IMPRESSION') return [];
  const streamed = kind === 'CLICK' ? ('clicked' as const) : ('cleared' as const);
  const uuid = eventUuid([streamed, runId, deviceId, digest.toString('hex')]);
  const content = { variation: variation || null, locale: locale || null };
  return [{ workspaceId, runId, bucket, kind: streamed, deviceId, platform, action, uuid, ...content }];
}

async function withoutErased(database: Database, reports: DeviceReport[]): Promise<DeviceReport[]> {
  if (reports.length === 0) return [];
  const erased = await findErasedDevices(database, reports);
  return reports.filter(({ deviceId }) => !erased.has(deviceId));
}

const storedKinds: Record<InteractionKind, StoredInteractionKind> = {
  impression: 'IMPRESSION',
  click: 'CLICK',
  close: 'CLOSE',
};
