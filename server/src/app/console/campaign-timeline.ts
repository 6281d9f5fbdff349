import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { listRunDays, readTimeline } from '../../storage/campaigns/campaign-stats.ts';
import type { RunSums, TimelineStep } from '../../storage/campaigns/campaign-stats.ts';

export type Timeline = { stepSeconds: number; steps: TimelineStep[] };

const maxSteps = 60;
const stepsSeconds = [1, 2, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800];
const keptMilliseconds = 5_000;
/** What has ended does not change any more; so many of those that were looked at last are kept. */
const maxKept = 200;

/** `end`: of the last run; null while one is open. */
type Reading = { readAt: number; end: number | null; answer: Promise<Timeline> };
type Asked = { id: string } & Pick<RunSums, 'startedAt' | 'endedAt'>;

/**
 * When messages of a campaign were taken over or failed, step by step. One answer serves all who look within some seconds;
 * the next one reads what was sent since, because a step that is over stays as it is: what becomes final does so now.
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
  // Of the last two steps more may have been stored since; what is not of the same steps is read anew.
  const settled = before?.stepSeconds === stepSeconds ? before.steps.slice(0, -2) : [];
  const last = settled.at(-1);
  const since = last ? new Date(last.at.getTime() + stepSeconds * 1000) : startedAt;
  const steps = new Map<number, TimelineStep>();
  for (const { day, runIds } of await listRunDays(database, id))
    for (const step of await readTimeline(database, { day, runIds, origin: startedAt, since, stepSeconds })) {
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
