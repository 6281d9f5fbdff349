import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { ConsoleAccountDependencies } from '../../app/accounts/audit.ts';
import { authorizeSession } from '../../app/accounts/sign-in.ts';
import type { AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import { readCalendar } from '../../app/campaigns/calendar.ts';
import type { CampaignReports } from '../../app/campaigns/campaign-report.ts';
import { requireCampaignChange } from '../../app/campaigns/change-campaign-state.ts';
import { cloneCampaign } from '../../app/campaigns/create-campaign.ts';
import { requireSearchSettings, searchWithFigures } from '../../app/campaigns/search-campaigns.ts';
import type { SearchDependencies } from '../../app/campaigns/search-campaigns.ts';
import { campaignActions } from '../../domain/campaigns/campaign.ts';
import { ServiceError } from '../../domain/errors.ts';
import { calendarViews } from '../../domain/timing/calendar.ts';
import { parseSearch } from '../campaigns/search.ts';
import { readObject } from '../route/route.ts';
import { consoleApi as api } from './access.ts';
import type { ConsoleCookies } from './access.ts';
import {
  presentListedCampaign,
  presentReport,
  presentRequest,
  CampaignList,
  CampaignProgress,
  CampaignReport,
  CampaignResults,
  CampaignRuns,
  CampaignTimeline,
  ChangedCampaign,
} from './campaign-answers.ts';
import { campaignFigureRoutes } from './campaign-figures.ts';
import { Id, keyOf, Workspace, workspaceId, workspaceOf } from './requests.ts';
import { described, oneOf } from './shape-parts.ts';
import { campaignTemplateRoutes } from './templates.ts';

export const CalendarView = oneOf(calendarViews);

export const CampaignCalendar = Type.Object({
  view: CalendarView,
  timeZone: Type.String(),
  offset: described(Type.String(), 'The offset from UTC on the first day, as in `+05:30`.'),
  today: described(Type.String(), 'The current day in that time zone, as YYYY-MM-DD.'),
  date: described(Type.String(), 'The requested day.'),
  from: described(Type.String(), 'The first day shown, a Monday.'),
  days: Type.Number(),
  hasMore: described(Type.Boolean(), 'True if not all entries are listed.'),
  entries: described(
    Type.Array(
      Type.Object({
        campaignId: Type.String(),
        name: Type.String(),
        status: described(
          Type.String(),
          'The status of the campaign, or of the run if it has started or waits for a worker.',
        ),
        inEveryZone: described(Type.Boolean(), 'True if `local` is the local time of each user.'),
        deliveryType: Type.String(),
        at: Type.String(),
        local: Type.Object({ date: Type.String(), time: Type.String() }),
      }),
    ),
    'The earliest first.',
  ),
});

export type CampaignRouteDependencies = {
  campaigns: AuthoringDependencies & SearchDependencies & { report: CampaignReports };
};

const Listing = Type.Object({
  workspaceId,
  order: Type.Optional(Type.Union([Type.Literal('newest'), Type.Literal('oldest')])),
});
const Page = Type.Object({
  workspaceId,
  page: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,5}$' })),
});

/** Routes for campaigns on the console. The search accepts the body of V5, so the console shows what the API would return. */
export function consoleCampaignRoutes(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { campaigns } = deps;
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'overview.read' as const };
  const answering = (shape: TSchema) => ({ schema: { ...schema, params: Id, response: { 200: shape } }, config });
  const mayChange = { permission: 'campaigns.write' as const };
  campaignFigureRoutes(server, deps);
  campaignCalendarRoutes(server, deps);
  campaignTemplateRoutes(server, deps);

  const searching = { schema: { ...schema, querystring: Listing, response: { 200: CampaignList } }, config };
  server.post(`${api}/campaigns/search`, searching, async (request) => {
    const workspaceId = workspaceOf(request);
    const { versioning } = await requireSearchSettings(campaigns, workspaceId);
    const asked = parseSearch(readObject(request), { version: 'V5', versioning });
    const { order } = request.query as Static<typeof Listing>;
    const found = await searchWithFigures(campaigns, { ...asked, versioning, workspaceId, ...(order && { order }) });
    return { campaigns: found.map(presentListedCampaign), limit: asked.limit };
  });
  server.get(`${api}/campaigns/:id`, answering(CampaignReport), async (request) => {
    const key = keyOf(request);
    const { versioning } = await requireSearchSettings(campaigns, key.workspaceId);
    return presentReport(await campaigns.report.read(key), versioning);
  });
  server.get(`${api}/campaigns/:id/progress`, answering(CampaignProgress), (request) =>
    campaigns.report.progress(keyOf(request)),
  );
  server.get(`${api}/campaigns/:id/results`, answering(CampaignResults), (request) =>
    campaigns.report.results(keyOf(request)),
  );
  server.get(`${api}/campaigns/:id/timeline`, answering(CampaignTimeline), (request) =>
    campaigns.report.timeline(keyOf(request)),
  );
  server.get(
    `${api}/campaigns/:id/runs`,
    { schema: { hide: true, querystring: Page, params: Id, response: { 200: CampaignRuns } }, config },
    (request) => {
      const { page = '1' } = request.query as Static<typeof Page>;
      return campaigns.report.listRuns({ ...keyOf(request), page: Number(page) });
    },
  );
  for (const action of campaignActions)
    server.post(
      `${api}/campaigns/:id/${action}`,
      { ...answering(CampaignProgress), config: mayChange },
      async (request) => {
        const { workspaceId, id: campaignId } = keyOf(request);
        await requireCampaignChange(campaigns, { actor: request.signedIn, workspaceId, campaignId, action });
        return campaigns.report.progress(keyOf(request));
      },
    );
  const cloning = { schema: { ...schema, params: Id, response: { 201: ChangedCampaign } }, config: mayChange };
  server.post(`${api}/campaigns/:id/clone`, cloning, async (request, reply) => {
    const key = keyOf(request);
    const { campaign } = await campaigns.report.read(key);
    const parts = presentRequest(campaign);
    const draft = await cloneCampaign(campaigns, { ...key, name: campaign.name, parts, actor: request.signedIn });
    return reply.code(201).send(draft);
  });
}

const Asked = Type.Object({
  workspaceId,
  view: CalendarView,
  // If the month lacks the day, its last day is used.
  date: Type.Optional(Type.String({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' })),
});

/** Routes for the calendar of scheduled sends, by day. */
function campaignCalendarRoutes(server: FastifyInstance, { campaigns }: CampaignRouteDependencies): void {
  const schema = { hide: true, querystring: Asked, response: { 200: CampaignCalendar } };
  server.get(`${api}/calendar`, { schema, config: { permission: 'overview.read' } }, (request) => {
    const { workspaceId, view, date } = request.query as Static<typeof Asked>;
    return readCalendar(campaigns, { workspaceId, view, date });
  });
}

const lookMilliseconds = 1000;
// After this many reads the session is checked, and a comment is sent so that a proxy does not close the connection.
const looksPerCheck = 15;
// The maximum number of open reports on one node. Each queries the database every second.
const maxStreams = 200;

type CampaignEventDependencies = CampaignRouteDependencies & {
  accounts: ConsoleAccountDependencies;
  cookies: ConsoleCookies;
};

/**
 * Sends the progress of a campaign as server-sent events: `progress` when a number has changed, and `end` when no number can
 * change any more.
 */
export function campaignEventRoutes(
  server: FastifyInstance,
  { campaigns, accounts, cookies }: CampaignEventDependencies,
): void {
  const closing = new AbortController();
  server.addHook('preClose', async () => closing.abort());
  let streams = 0;

  server.get(
    `${api}/campaigns/:id/progress/events`,
    { schema: { hide: true, querystring: Workspace, params: Id }, config: { permission: 'overview.read' } },
    async (request, reply) => {
      const key = keyOf(request);
      if (streams >= maxStreams) throw new ServiceError('OVERLOADED', { retryAfterSeconds: 5 });
      let progress = await campaigns.report.progress(key);

      async function* follow(): AsyncGenerator<string> {
        streams += 1;
        try {
          let sent = '';
          for (let look = 1; ; look += 1) {
            const { at: _at, ...numbers } = progress;
            const text = JSON.stringify(numbers);
            if (text !== sent) yield `event: progress\ndata: ${JSON.stringify(progress)}\n\n`;
            sent = text;
            if (progress.openRuns === 0 && progress.actions.length === 0) return yield 'event: end\ndata: {}\n\n';
            await setTimeout(lookMilliseconds, undefined, { signal: closing.signal });
            if (look % looksPerCheck === 0) {
              const token = request.cookies[cookies.session.name];
              await authorizeSession(accounts, { token, permission: 'overview.read', workspaceId: key.workspaceId });
              yield ': still here\n\n';
            }
            progress = await campaigns.report.progress(key);
          }
        } catch {
          // The node is stopping, the session has ended or the database is unavailable. The client reconnects and gets the
          // reason.
        } finally {
          streams -= 1;
        }
      }

      return reply
        .header('content-type', 'text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .send(Readable.from(follow(), { objectMode: false }));
    },
  );
}
