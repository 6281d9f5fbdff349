import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { addDays, localDate, toInstant } from '../../domain/timing/local-time.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countRunsOf, sumSpanClicks, sumSpanOutcomes } from '../../storage/installation/week-figures.ts';
import type { SpanOutcome } from '../../storage/installation/week-figures.ts';
import { findWorkspace } from '../../storage/workspaces.ts';

/** `tried`: messages with a final outcome. Withheld ones were never sent. */
type SentFigures = { tried: number; accepted: number; clicked: number };

export type Week = {
  /** The last seven days in the workspace's zone, the newest last. The newest one is not over. */
  days: ({ date: string } & SentFigures)[];
  /** The seven days before, up to the same time of day, so that both are as long. */
  before: SentFigures;
  /** True if there were more runs than are read; the figures are then those of the newest ones. */
  isPartial: boolean;
};

const shownDays = 7;
const weekMilliseconds = 7 * 86_400_000;
// A run of a campaign has up to 256 rows per platform and outcome; a run to named users a few. 20,000 runs take about 0.3 s.
const maxRuns = 20_000;
// Every open page asks every five seconds.
const keptMilliseconds = 5_000;

export type ReadWeek = (workspaceId: string) => Promise<Week>;

/** Makes the function that returns what a workspace sent in seven days. @throws ServiceError NOT_FOUND */
export function makeReadWeek({ database, clock }: { database: Database; clock: Clock }): ReadWeek {
  const kept = new Map<string, { at: number; week: Promise<Week> }>();
  return (workspaceId) => {
    const at = clock.now();
    const known = kept.get(workspaceId);
    if (known && Math.abs(known.at - at.getTime()) <= keptMilliseconds) return known.week;
    const week = readWeek(database, { workspaceId, at });
    kept.set(workspaceId, { at: at.getTime(), week });
    week.catch(() => kept.delete(workspaceId));
    // One entry per workspace, and few workspaces have a page open.
    if (kept.size > 100) kept.delete(kept.keys().next().value!);
    return week;
  };
}

async function readWeek(database: Database, { workspaceId, at }: { workspaceId: string; at: Date }): Promise<Week> {
  const workspace = await findWorkspace(database, workspaceId);
  if (!workspace) throw new ServiceError('NOT_FOUND', { detail: 'no such workspace' });
  const { dates, starts } = spansOf(at, workspace.timeZone);
  const asked = { workspaceId, starts, maxRuns };
  const [runs, outcomes, clicks] = await inSnapshot(database, async (tx) => [
    await countRunsOf(tx, asked),
    await sumSpanOutcomes(tx, asked),
    await sumSpanClicks(tx, asked),
  ]);
  const figures = (span: number): SentFigures => ({
    ...sumOutcomes(outcomes.filter((row) => row.span === span)),
    clicked: clicks.find((row) => row.span === span)?.messages ?? 0,
  });
  return {
    days: dates.map((date, index) => ({ date, ...figures(index + 2) })),
    before: figures(0),
    isPartial: runs === maxRuns,
  };
}

/**
 * Returns the last seven dates, and the starts of the spans: the week before up to this time of day, the rest of it, and
 * each of the seven days.
 */
function spansOf(at: Date, timeZone: string): { dates: string[]; starts: Date[] } {
  const today = localDate(at, timeZone);
  const dates = Array.from({ length: shownDays }, (_, index) => addDays(today, index + 1 - shownDays));
  const startOf = (date: string): Date => toInstant({ date, time: '00:00', timeZone });
  const first = startOf(dates[0]!);
  // After a change of the clocks a week ago may be in the first day.
  const weekAgo = new Date(Math.min(at.getTime() - weekMilliseconds, first.getTime()));
  return { dates, starts: [startOf(addDays(dates[0]!, -shownDays)), weekAgo, ...dates.map(startOf)] };
}

function sumOutcomes(rows: readonly SpanOutcome[]): { tried: number; accepted: number } {
  const sum = (isCounted: (outcome: string) => boolean): number =>
    rows.filter(({ outcome }) => isCounted(outcome)).reduce((total, { devices }) => total + devices, 0);
  return {
    tried: sum((outcome) => outcome !== 'WAITING' && outcome !== 'WITHHELD'),
    accepted: sum((outcome) => outcome === 'ACCEPTED'),
  };
}
