// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type CalendarView = 'month' | 'week';

export type CampaignCalendar = {
  view: CalendarView;
  timeZone: string;

  /** The offset from UTC on the first day, as in `+05:30`. */
  offset: string;

  /** The current day in that time zone, as YYYY-MM-DD. */
  today: string;

  /** The requested day. */
  date: string;

  /** The first day shown, a Monday. */
  from: string;
  days: number;

  /** True if not all entries are listed. */
  hasMore: boolean;

  /** The earliest first. */
  entries: {
    campaignId: string;
    name: string;

    /** The status of the campaign, or of the run if it has started or waits for a worker. */
    status: string;

    /** True if `local` is the local time of each user. */
    inEveryZone: boolean;
    deliveryType: string;
    at: string;
    local: {
      date: string;
      time: string;
    };
  }[];
};
