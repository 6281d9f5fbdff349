import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCampaigns } from '../../app/campaigns/manage-campaigns.ts';
import { consoleApi as api } from './access.ts';
import { ChangedCampaign, presentRequest } from './campaign-answers.ts';
import { described } from './shape-parts.ts';

export const CampaignTemplate = Type.Object({
  id: Type.String(),
  name: Type.String(),
  request: described(
    Type.Record(Type.String(), Type.Unknown()),
    'The body with which `POST /v5/campaigns` makes a draft of it.',
  ),
  createdBy: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

export const TemplateList = Type.Object({ templates: Type.Array(CampaignTemplate) });

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });
const Id = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });
const Named = Type.Object({ name: Type.String({ maxLength: 1000 }) }, { additionalProperties: false });

/** Routes for campaigns that are saved as templates. */
export function campaignTemplateRoutes(server: FastifyInstance, { campaigns }: { campaigns: ConsoleCampaigns }): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const listing = { schema: { ...schema, response: { 200: TemplateList } } };
  server.get(`${api}/templates`, { ...listing, config: { permission: 'overview.read' } }, async (request) => ({
    templates: (await campaigns.templates.list(workspaceOf(request))).map(({ parts, ...template }) => ({
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
      .send(await campaigns.templates.create({ ...changeOf(request), ...of, name: nameOf(request) }));
  });
  server.patch(
    `${api}/templates/:id`,
    { schema: { ...schema, params: Id, body: Named }, config },
    async (request, reply) => {
      await campaigns.templates.rename({ ...changeOf(request), ...keyOf(request), name: nameOf(request) });
      return reply.code(204).send();
    },
  );
  server.delete(`${api}/templates/:id`, { schema: { ...schema, params: Id }, config }, async (request, reply) => {
    await campaigns.templates.remove({ ...changeOf(request), ...keyOf(request) });
    return reply.code(204).send();
  });
  const using = { schema: { ...schema, params: Id, response: { 201: ChangedCampaign } }, config };
  server.post(`${api}/templates/:id/use`, using, async (request, reply) =>
    reply.code(201).send(await campaigns.templates.use({ ...changeOf(request), ...keyOf(request) })),
  );
}

function keyOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: workspaceOf(request), id: (request.params as Static<typeof Id>).id };
}

function changeOf(request: FastifyRequest) {
  return { by: request.signedIn, workspaceId: workspaceOf(request) };
}

function workspaceOf(request: FastifyRequest): string {
  return (request.query as Static<typeof Workspace>).workspaceId;
}

function nameOf(request: FastifyRequest): string {
  return (request.body as Static<typeof Named>).name;
}
