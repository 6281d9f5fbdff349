import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ConsoleCampaigns } from '../../app/console/console-campaigns.ts';
import type { FiguresQuestion } from '../../app/console/read-campaign-figures.ts';
import { consoleApi as api } from './console-access.ts';
import { Attribution, CampaignFigures, NamedWinner } from './figure-shapes.ts';
import { presentFigureFile } from './present-figure-file.ts';

const Asked = Type.Object({
  workspaceId: Type.String({ maxLength: 64 }),
  attribution: Type.Optional(Attribution),
});
const Winner = Type.Object(
  { variation: Type.Union([Type.Integer({ minimum: 1, maximum: 100 }), Type.Null()]) },
  { additionalProperties: false },
);
const Id = Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{24}$' }) });

/** What the statistics say of a campaign, on the screen and as a file, and the winner that is named by them. */
export function campaignFigureRoutes(server: FastifyInstance, { campaigns }: { campaigns: ConsoleCampaigns }): void {
  const config = { permission: 'overview.read' as const };
  const schema = { hide: true, querystring: Asked, params: Id };
  server.get(
    `${api}/campaigns/:id/figures`,
    { schema: { ...schema, response: { 200: CampaignFigures } }, config },
    (request) => campaigns.figures(questionOf(request)),
  );
  server.get(`${api}/campaigns/:id/figures.csv`, { schema, config }, async (request, reply) => {
    const figures = await campaigns.figures(questionOf(request));
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', 'attachment; filename="campaign-figures.csv"')
      .header('x-content-type-options', 'nosniff')
      .send(presentFigureFile(figures));
  });
  const naming = { ...schema, body: Winner, response: { 200: NamedWinner } };
  const mayChange = { permission: 'campaigns.write' as const };
  server.put(`${api}/campaigns/:id/winner`, { schema: naming, config: mayChange }, (request) => {
    const { workspaceId, id } = questionOf(request);
    const { variation } = request.body as Static<typeof Winner>;
    return campaigns.nameWinner({ workspaceId, id, variation, by: request.signedIn });
  });
}

function questionOf(request: FastifyRequest): FiguresQuestion {
  const { workspaceId, attribution = 'TOTAL_CONVERSIONS' } = request.query as Static<typeof Asked>;
  return { workspaceId, id: (request.params as Static<typeof Id>).id, attribution };
}
