import type { Clock } from '../../clock.ts';
import { calendarSpan } from '../../domain/timing/calendar.ts';
import type { CalendarView } from '../../domain/timing/calendar.ts';
import { addDays, localDate, localTime, offsetAt, toInstant } from '../../domain/timing/local-time.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import type { Database } from '../../storage/database.ts';
import { listOpenSends, listUpcomingCampaigns } from '../../storage/runs/campaign-runs.ts';
import type { UpcomingCampaign } from '../../storage/runs/campaign-runs.ts';
import { requireWorkspace } from '../workspaces.ts';

export type CalendarQuestion = {
  workspaceId: string;
  view: CalendarView;
  /** A day in the span, YYYY-MM-DD in the workspace's zone; undefined means today. */
  date: string | undefined;
};

// A calendar with more is not readable; the campaign list has the rest.
const maxCampaigns = 500;
const maxOpenSends = 50;
const maxEntries = 1_000;

/**
 * Returns the future and current sends of a month or a week: every occurrence, in the workspace's zone, calculated by the
 * function that fires them.
 *
 * @throws ServiceError NOT_FOUND
 */
export async function readCalendar(
  { database, clock }: { database: Database; clock: Clock },
  { workspaceId, view, ...asked }: CalendarQuestion,
) {
  const { timeZone } = await requireWorkspace(database, workspaceId);
  const now = clock.now();
  const today = localDate(now, timeZone);
  const { date, from, days } = calendarSpan({ view, date: asked.date ?? today });
  const startsAt = toInstant({ date: from, time: '00:00', timeZone });
  const endsBefore = toInstant({ date: addDays(from, days), time: '00:00', timeZone });
  const [campaigns, open] = await Promise.all([
    listUpcomingCampaigns(database, { workspaceId, before: endsBefore, limit: maxCampaigns + 1 }),
    listOpenSends(database, { workspaceId, limit: maxOpenSends }),
  ]);
  const isInSpan = ({ at }: { at: Date }) => at >= startsAt && at < endsBefore;
  const upcoming = campaigns
    .slice(0, maxCampaigns)
    .flatMap((campaign) =>
      occurrencesOf(campaign, { days, endsBefore, startsAt }).map((at) => ({ ...entryOf(campaign), at })),
    );
  const entries = [...open, ...upcoming]
    .filter(isInSpan)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return {
    view,
    timeZone,
    /** UTC offset at the beginning, such as `+05:30`. */
    offset: offsetAt(startsAt, timeZone),
    today,
    date,
    from,
    days,
    hasMore: campaigns.length > maxCampaigns || entries.length > maxEntries,
    entries: entries.slice(0, maxEntries).map((entry) => ({
      ...entry,
      local: { date: localDate(entry.at, timeZone), time: localTime(entry.at, timeZone).slice(0, 5) },
    })),
  };
}

function entryOf({ id, name, status, deliveryType }: UpcomingCampaign) {
  return { campaignId: id, name, status, deliveryType };
}

type Span = { days: number; startsAt: Date; endsBefore: Date };

/** Returns the stored next occurrence, which a user may have moved, and later ones from the schedule, at most one a day. */
function occurrencesOf(
  { deliveryType, timing, nextAt }: UpcomingCampaign,
  { days, startsAt, endsBefore }: Span,
): Date[] {
  if (deliveryType !== 'PERIODIC' || !('kind' in timing)) return [nextAt];
  const first = nextAt >= startsAt ? nextAt : new Date(startsAt.getTime() - 1);
  const later = nextOccurrences(fromStoredTiming(timing as StoredTiming), { after: first, count: days });
  return [...(nextAt >= startsAt ? [nextAt] : []), ...later.filter((at) => at < endsBefore)];
}
