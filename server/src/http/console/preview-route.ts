import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { previewCampaign } from '../../app/campaigns/preview-campaign.ts';
import type { Preview, PreviewDependencies } from '../../app/campaigns/preview-campaign.ts';
import type { AndroidPayload } from '../../domain/campaigns/android-payload.ts';
import type { OwnContent } from '../../domain/campaigns/content-texts.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { parsePreview } from '../campaigns/parse-preview.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { presentPreview } from '../campaigns/present-preview.ts';
import { presentV5, presentV5Error } from '../campaigns/present-v5.ts';
import { presentDefaultError } from '../present-default-error.ts';
import { toServiceError } from '../to-service-error.ts';
import { consoleApi } from './console-access.ts';
import { PreviewAnswer } from './composer-shapes.ts';

export type ConsolePreviewDependencies = PreviewDependencies & {
  /** How much a provider is sent, the most it accepts, and the most that every browser accepts. */
  measure: (shown: { workspaceId: string; androidPayload: AndroidPayload } & ShownContent) => {
    bytes: number;
    most: number;
    maxEverywhere: number;
  };
};

type ShownContent = { [P in Platform]: { platform: P; content: OwnContent[P] } }[Platform];
type Rendered = Preview['platforms'][number];

const Workspace = Type.Object({ workspaceId: Type.String({ maxLength: 64 }) });

/**
 * POST /v5/campaigns/preview for the signed-in user: the same body, response and faults, and the size of each message.
 * A body that names no user is rendered for a user without attributes.
 */
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
      {
        schema: { hide: true, querystring: Workspace, response: { 200: PreviewAnswer } },
        config: { permission: 'people.read' },
      },
      async (request) => {
        const { workspaceId } = request.query as Static<typeof Workspace>;
        const preview = await previewCampaign(deps, { ...parsePreview(readBody(request), 'anybody'), workspaceId });
        const { platforms, ...shown } = presentPreview(preview);
        const sizes = preview.platforms.map((rendered) => [rendered.platform.toLowerCase(), sizeOf(rendered)] as const);
        const withSizes = sizes.map(([name, size]) => [name, { ...platforms[name], ...size }]);
        return presentV5({ ...shown, platforms: Object.fromEntries(withSizes) as object });

        function sizeOf({ platform, personal }: Rendered) {
          if (!('content' in personal)) return {};
          const { androidPayload } = preview;
          const { content } = personal;
          return { payload: deps.measure({ workspaceId, androidPayload, platform, content } as never) };
        }
      },
    );
  });
}
