import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import { CalendarView, CampaignCalendar } from './calendar-shapes.ts';
import { consoleApi as api } from './console-access.ts';

const Asked = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  view: CalendarView,
  // A day that a month lacks is the last one that it has.
  date: Type.Optional(Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' })),
});

/** What is going to be sent, by day. */
export function campaignCalendarRoutes(server: FastifyInstance, { campaigns }: { campaigns: ConsoleCampaigns }): void {
  const schema = { hide: true, querystring: Asked, response: { 200: CampaignCalendar } };
  server.get(`${api}/calendar`, { schema, config: { permission: 'overview.read' } }, (request) => {
    const { workspaceId, view, date } = request.query as Static<typeof Asked>;
    return campaigns.calendar({ workspaceId, view, date });
  });
}
