// Generated from the shapes of the routes by `npm run console:types`; edits are lost.

export type CalendarView = 'month' | 'week';

export type CampaignCalendar = {
  view: CalendarView;
  timeZone: string;

  /** As in `+05:30`, on the first day. */
  offset: string;

  /** YYYY-MM-DD in that zone. */
  today: string;

  /** The day that was asked for. */
  date: string;

  /** The first day that is shown, a Monday. */
  from: string;
  days: number;

  /** There is more than is listed. */
  hasMore: boolean;

  /** The earliest first. */
  entries: {
    campaignId: string;
    name: string;

    /** Of a sending that has begun, or waits for a worker, its own. */
    status: string;
    deliveryType: string;
    at: string;
    local: {
      date: string;
      time: string;
    };
  }[];
};
