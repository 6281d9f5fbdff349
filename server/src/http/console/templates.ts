import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  createFromTemplate,
  createTemplate,
  listTemplates,
  removeTemplate,
  renameTemplate,
} from '../../app/campaigns/campaign-templates.ts';
import type { AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import type { CampaignReports } from '../../app/campaigns/campaign-report.ts';
import { consoleApi as api } from './access.ts';
import { ChangedCampaign, presentRequest } from './campaign-answers.ts';
import { changeOf, closed, Id, idOf, keyOf, Workspace, workspaceOf } from './requests.ts';
import { described } from './shape-parts.ts';

export const CampaignTemplate = Type.Object({
  id: Type.String(),
  name: Type.String(),
  request: described(
    Type.Record(Type.String(), Type.Unknown()),
    'A body with which `POST /v5/campaigns` creates a draft from the template.',
  ),
  createdBy: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

export const TemplateList = Type.Object({ templates: Type.Array(CampaignTemplate) });

const Named = Type.Object({ name: Type.String({ maxLength: 1000 }) }, closed);

type TemplateRouteDependencies = { campaigns: AuthoringDependencies & { report: CampaignReports } };

/** Routes for campaigns that are saved as templates. */
export function campaignTemplateRoutes(server: FastifyInstance, { campaigns }: TemplateRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const listing = { schema: { ...schema, response: { 200: TemplateList } } };
  server.get(`${api}/templates`, { ...listing, config: { permission: 'overview.read' } }, async (request) => ({
    templates: (await listTemplates(campaigns, workspaceOf(request))).map(({ parts, ...template }) => ({
      ...template,
      request: parts,
    })),
  }));
  const making = { schema: { ...schema, params: Id, body: Named, response: { 201: ChangedCampaign } }, config };
  server.post(`${api}/campaigns/:id/template`, making, async (request, reply) => {
    const { campaign } = await campaigns.report.read(keyOf(request));
    const of = { of: campaign.id, parts: presentRequest(campaign) };
    return reply
      .code(201)
      .send(await createTemplate(campaigns, { ...changeOf(request), ...of, name: nameOf(request) }));
  });
  server.patch(
    `${api}/templates/:id`,
    { schema: { ...schema, params: Id, body: Named }, config },
    async (request, reply) => {
      await renameTemplate(campaigns, { ...changeOf(request), id: idOf(request), name: nameOf(request) });
      return reply.code(204).send();
    },
  );
  server.delete(`${api}/templates/:id`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await removeTemplate(campaigns, { ...changeOf(request), id: idOf(request) });
    return reply.code(204).send();
  });
  const using = { schema: { ...schema, params: Id, response: { 201: ChangedCampaign } }, config };
  server.post(`${api}/templates/:id/use`, using, async (request, reply) =>
    reply.code(201).send(await createFromTemplate(campaigns, { ...changeOf(request), id: idOf(request) })),
  );
}

function nameOf(request: FastifyRequest): string {
  return (request.body as Static<typeof Named>).name;
}
