import type { Clock } from '../../clock.ts';
import { calendarSpan } from '../../domain/timing/calendar.ts';
import type { CalendarView } from '../../domain/timing/calendar.ts';
import { localSendOf, zoneSpanHours } from '../../domain/timing/local-send.ts';
import { addDays, localDate, localTime, offsetAt, toInstant } from '../../domain/timing/local-time.ts';
import { nextOccurrences } from '../../domain/timing/occurrences.ts';
import { fromStoredTiming } from '../../domain/timing/timing.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import type { Database } from '../../storage/database.ts';
import { listOpenSends, listPastSends, listUpcomingCampaigns } from '../../storage/runs/campaign-runs.ts';
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
const maxPastSends = 500;
const maxEntries = 1_000;

/**
 * Returns the past, current and future sends of a month or a week: every occurrence, in the workspace's zone, calculated by the
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
  const past = { workspaceId, from: startsAt, before: endsBefore, limit: maxPastSends + 1 };
  const [campaigns, open, sent] = await Promise.all([
    listUpcomingCampaigns(database, { workspaceId, before: endsBefore, limit: maxCampaigns + 1 }),
    listOpenSends(database, { workspaceId, limit: maxOpenSends }),
    listPastSends(database, past),
  ]);
  // A send at the local time of each user begins up to a day before the day that its local time names.
  const span = { days: days + 2, startsAt: new Date(startsAt.getTime() - zoneSpanHours * 3_600_000), endsBefore };
  const upcoming = campaigns
    .slice(0, maxCampaigns)
    .flatMap((campaign) => occurrencesOf(campaign, span).map((at) => upcomingEntry(campaign, { at, timeZone })));
  const here = (at: Date) => ({ date: localDate(at, timeZone), time: localTime(at, timeZone).slice(0, 5) });
  const started = [...open, ...sent.slice(0, maxPastSends)].map((send) => ({
    ...send,
    local: here(send.at),
    inEveryZone: false,
  }));
  const lastDate = addDays(from, days - 1);
  const entries = [...started, ...upcoming]
    .filter(({ local }) => local.date >= from && local.date <= lastDate)
    .toSorted((one, other) => orderOf(one.local) - orderOf(other.local) || one.at.getTime() - other.at.getTime());
  return {
    view,
    timeZone,
    /** UTC offset at the beginning, such as `+05:30`. */
    offset: offsetAt(startsAt, timeZone),
    today,
    date,
    from,
    days,
    hasMore: campaigns.length > maxCampaigns || sent.length > maxPastSends || entries.length > maxEntries,
    entries: entries.slice(0, maxEntries),
  };
}

/** A send at the local time of each user is shown at that time, not at the instant at which the first zone reaches it. */
function upcomingEntry(campaign: UpcomingCampaign, { at, timeZone }: { at: Date; timeZone: string }) {
  const { id, name, status, deliveryType, timing } = campaign;
  const send = 'kind' in timing ? localSendOf(fromStoredTiming(timing as StoredTiming), at) : null;
  const local = send ?? { date: localDate(at, timeZone), time: localTime(at, timeZone) };
  return {
    ...{ campaignId: id, name, status, deliveryType, at },
    local: { date: local.date, time: local.time.slice(0, 5) },
    inEveryZone: send !== null,
  };
}

function orderOf({ date, time }: { date: string; time: string }): number {
  return Date.parse(`${date}T${time}:00Z`);
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
