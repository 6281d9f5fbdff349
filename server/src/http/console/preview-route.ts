import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { CampaignUseCases } from '../../app/campaigns/campaign-use-cases.ts';
import { parsePreview } from '../campaigns/parse-preview.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { presentPreview } from '../campaigns/present-preview.ts';
import { presentV5, presentV5Error } from '../campaigns/present-v5.ts';
import { presentDefaultError } from '../present-default-error.ts';
import { toServiceError } from '../to-service-error.ts';
import { consoleApi } from './console-access.ts';

export type ConsolePreviewDependencies = Pick<CampaignUseCases, 'preview'>;

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });

/** POST /v5/campaigns/preview for who is signed in: the same body, answer and faults. */
export function consolePreviewRoute(server: FastifyInstance, deps: ConsolePreviewDependencies): void {
  void server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown, request);
      // A form shows every fault at its field.
      if (error.code === 'CAMPAIGN_REQUEST_INVALID' || error.code === 'CAMPAIGN_NOT_FOUND')
        return presentV5Error(error, { request, reply });
      return presentDefaultError(error, reply);
    });
    scope.post(
      `${consoleApi}/preview`,
      // It shows attributes of a person.
      { schema: { hide: true, querystring: Workspace }, config: { permission: 'people.read' } },
      async (request) => {
        const { workspaceId } = request.query as Static<typeof Workspace>;
        return presentV5(presentPreview(await deps.preview({ ...parsePreview(readBody(request)), workspaceId })));
      },
    );
  });
}
