import type { FastifyInstance } from 'fastify';
import { previewCampaign } from '../../app/campaigns/preview-campaign.ts';
import type { Preview, PreviewDependencies } from '../../app/campaigns/preview-campaign.ts';
import type { AndroidPayload, Platform } from '../../domain/content/content.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import { parsePreview, presentPreview } from '../campaigns/test-and-preview.ts';
import { presentV5, presentV5Error } from '../campaigns/v5-answers.ts';
import { presentDefaultError, toServiceError } from '../route/errors.ts';
import { readObject } from '../route/route.ts';
import { consoleApi } from './access.ts';
import { PreviewAnswer } from './composer.ts';
import { Workspace, workspaceOf } from './requests.ts';

export type ConsolePreviewDependencies = PreviewDependencies & {
  /** Returns the number of bytes sent to a provider, the maximum it accepts, and the maximum that every browser accepts. */
  measure: (shown: { workspaceId: string; androidPayload: AndroidPayload } & ShownContent) => {
    bytes: number;
    most: number;
    maxEverywhere: number;
  };
};

type ShownContent = { [P in Platform]: { platform: P; content: OwnContent[P] } }[Platform];
type Rendered = Preview['platforms'][number];

/**
 * POST /v5/campaigns/preview for the signed-in user: the same body, response and faults, and the size of each message.
 * A body that names no user is rendered for a user without attributes.
 */
export function consolePreviewRoute(server: FastifyInstance, deps: ConsolePreviewDependencies): void {
  void server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown, request);
      // The form shows every fault at its field.
      if (error.code === 'CAMPAIGN_REQUEST_INVALID' || error.code === 'CAMPAIGN_NOT_FOUND')
        return presentV5Error(error, { request, reply });
      return presentDefaultError(error, reply);
    });
    scope.post(
      `${consoleApi}/preview`,
      // The preview shows attributes of a user.
      {
        schema: { hide: true, querystring: Workspace, response: { 200: PreviewAnswer } },
        config: { permission: 'people.read' },
      },
      async (request) => {
        const workspaceId = workspaceOf(request);
        const preview = await previewCampaign(deps, { ...parsePreview(readObject(request), 'anybody'), workspaceId });
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
