import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { listRunDays, readTimeline } from '../../storage/campaigns/campaign-ledger.ts';
import type { TimelineStep } from '../../storage/campaigns/campaign-ledger.ts';
import type { RunSums } from '../../storage/campaigns/campaign-stats.ts';

export type Timeline = { stepSeconds: number; steps: TimelineStep[] };

const maxSteps = 60;
const stepsSeconds = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];
const keptMilliseconds = 5_000;
/** Ended campaigns do not change any more; the most recently viewed ones are cached, up to this number. */
const maxKept = 200;

/** `end`: of the last run; null while one is open. */
type Reading = { readAt: number; end: number | null; answer: Promise<Timeline> };
type Asked = { id: string } & Pick<RunSums, 'startedAt' | 'endedAt'>;

/**
 * When messages of a campaign were accepted or failed, step by step. One result serves all viewers for some seconds;
 * the next one reads only what is new, because a past step no longer changes: outcomes become final in the present
 * step.
 */
export function makeCampaignTimeline({ database, clock }: { database: Database; clock: Clock }) {
  const readings = new Map<string, Reading>();

  return async ({ id, startedAt, endedAt }: Asked): Promise<Timeline> => {
    if (!startedAt) return { stepSeconds: 1, steps: [] };
    const now = clock.now();
    const kept = readings.get(id);
    const end = endedAt?.getTime() ?? null;
    const isFresh = kept !== undefined && (end !== null || now.getTime() - kept.readAt < keptMilliseconds);
    if (isFresh && kept.end === end) return kept.answer;
    const before = await kept?.answer.catch(() => undefined);
    const answer = readOn(database, { id, startedAt, until: endedAt ?? now, before });
    readings.delete(id);
    readings.set(id, { readAt: now.getTime(), end, answer });
    answer.catch(() => readings.delete(id));
    for (const oldest of readings.keys()) if (readings.size > maxKept) readings.delete(oldest);
    return answer;
  };
}

type Read = { id: string; startedAt: Date; until: Date; before: Timeline | undefined };

async function readOn(database: Database, { id, startedAt, until, before }: Read): Promise<Timeline> {
  const seconds = (until.getTime() - startedAt.getTime()) / 1000;
  const stepSeconds = stepsSeconds.find((step) => seconds / step <= maxSteps) ?? stepsSeconds.at(-1)!;
  // More may have been stored for the last two steps since; results with other steps are read again.
  const settled = before?.stepSeconds === stepSeconds ? before.steps.slice(0, -2) : [];
  const last = settled.at(-1);
  const since = last ? new Date(last.at.getTime() + stepSeconds * 1000) : startedAt;
  const steps = new Map<number, TimelineStep>();
  for (const day of await listRunDays(database, id))
    for (const step of await readTimeline(database, { ...day, origin: startedAt, since, stepSeconds })) {
      const same = steps.get(step.at.getTime());
      steps.set(step.at.getTime(), same ? add(same, step) : step);
    }
  const read = [...steps.values()].toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return { stepSeconds, steps: [...settled, ...read] };
}

function add(one: TimelineStep, other: TimelineStep): TimelineStep {
  const { at } = one;
  return { at, accepted: one.accepted + other.accepted, notDelivered: one.notDelivered + other.notDelivered };
}
