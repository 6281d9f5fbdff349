import { Type } from 'typebox';
import { calendarViews } from '../../domain/timing/calendar-span.ts';
import { described, oneOf } from './shape-parts.ts';

export const CalendarView = oneOf(calendarViews);

export const CampaignCalendar = Type.Object({
  view: CalendarView,
  timeZone: Type.String(),
  offset: described(Type.String(), 'As in `+05:30`, on the first day.'),
  today: described(Type.String(), 'YYYY-MM-DD in that zone.'),
  date: described(Type.String(), 'The day that was asked for.'),
  from: described(Type.String(), 'The first day that is shown, a Monday.'),
  days: Type.Number(),
  hasMore: described(Type.Boolean(), 'There is more than is listed.'),
  entries: described(
    Type.Array(
      Type.Object({
        campaignId: Type.String(),
        name: Type.String(),
        status: described(Type.String(), 'Of a sending that has begun, or waits for a worker, its own.'),
        deliveryType: Type.String(),
        at: Type.String(),
        local: Type.Object({ date: Type.String(), time: Type.String() }),
      }),
    ),
    'The earliest first.',
  ),
});
