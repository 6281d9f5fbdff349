import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { ConsoleAccountDependencies } from '../../app/accounts/account-dependencies.ts';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import { campaignActions } from '../../domain/campaigns/campaign-states.ts';
import { parseSearch, readBody } from '../campaigns/parse-search.ts';
import { campaignCalendarRoutes } from './campaign-calendar-routes.ts';
import { campaignFigureRoutes } from './campaign-figure-routes.ts';
import { campaignTemplateRoutes } from './campaign-template-routes.ts';
import { consoleApi as api } from './console-access.ts';
import { presentListedCampaign, presentReport, presentRequest } from './present-campaigns.ts';
import { viewRoutes } from './view-routes.ts';
import {
  CampaignList,
  CampaignProgress,
  CampaignReport,
  CampaignResults,
  CampaignRuns,
  CampaignTimeline,
  ChangedCampaign,
} from './campaign-shapes.ts';

export type ConsoleCampaignRouteDependencies = { campaigns: ConsoleCampaigns; accounts: ConsoleAccountDependencies };

const id = Type.String({ pattern: '^[0-9a-f]{24}$' });
const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Id = Type.Object({ id });
const Listing = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  order: Type.Optional(Type.Union([Type.Literal('newest'), Type.Literal('oldest')])),
});
const Page = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  page: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,5}$' })),
});

/** Campaigns on the console. The search takes the body of V5, so that what is shown is what the API would answer. */
export function consoleCampaignRoutes(server: FastifyInstance, deps: ConsoleCampaignRouteDependencies): void {
  const { campaigns } = deps;
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'overview.read' as const };
  const answering = (shape: TSchema) => ({ schema: { ...schema, params: Id, response: { 200: shape } }, config });
  const mayChange = { permission: 'campaigns.write' as const };
  campaignFigureRoutes(server, deps);
  campaignCalendarRoutes(server, deps);
  campaignTemplateRoutes(server, deps);
  viewRoutes(server, deps);

  const searching = { schema: { ...schema, querystring: Listing, response: { 200: CampaignList } }, config };
  server.post(`${api}/campaigns/search`, searching, async (request) => {
    const workspaceId = workspaceOf(request);
    const { versioning } = await campaigns.settings(workspaceId);
    const asked = parseSearch(readBody(request), { version: 'V5', versioning });
    const { order } = request.query as Static<typeof Listing>;
    const found = await campaigns.search({ ...asked, versioning, workspaceId, ...(order && { order }) });
    return { campaigns: found.map(presentListedCampaign), limit: asked.limit };
  });
  server.get(`${api}/campaigns/:id`, answering(CampaignReport), async (request) => {
    const key = keyOf(request);
    const { versioning } = await campaigns.settings(key.workspaceId);
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
        const key = keyOf(request);
        await campaigns.change({ ...key, action, by: request.signedIn });
        return campaigns.report.progress(key);
      },
    );
  const cloning = { schema: { ...schema, params: Id, response: { 201: ChangedCampaign } }, config: mayChange };
  server.post(`${api}/campaigns/:id/clone`, cloning, async (request, reply) => {
    const key = keyOf(request);
    const { campaign } = await campaigns.report.read(key);
    const parts = presentRequest(campaign);
    const draft = await campaigns.clone({ ...key, name: campaign.name, parts, by: request.signedIn });
    return reply.code(201).send(draft);
  });
}

export function keyOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: workspaceOf(request), id: (request.params as Static<typeof Id>).id };
}

function workspaceOf(request: FastifyRequest): string {
  return (request.query as Static<typeof Workspace>).workspaceId;
}
