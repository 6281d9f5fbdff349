import { Type } from 'typebox';
import { readCampaignInbox } from '../../app/campaigns/inbox-stats.ts';
import type { CampaignInbox, CampaignInboxDependencies } from '../../app/campaigns/inbox-stats.ts';
import { named } from '../openapi/shapes.ts';
import { addRoutes, route } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { makeV5Dialect, v5Base } from './dialects.ts';
import type { CampaignAccessDependencies } from './dialects.ts';
import { presentV5 } from './v5-answers.ts';

const counts = {
  kept: Type.Integer({ description: 'Users in whose inbox the message was put' }),
  read: Type.Integer({ description: 'Of these, users who have read it' }),
  archived: Type.Integer({ description: 'Of these, users who have archived it' }),
};

const answer = named(
  'CampaignInboxFigures',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: Type.Object({
      campaign_id: Type.String(),
      ...counts,
      runs: Type.Array(
        Type.Object({ id: Type.String(), created_at: Type.String({ description: 'ISO 8601' }), ...counts }),
        { description: 'The newest 100 runs, newest first; the figures above are their sums' },
      ),
    }),
  }),
);

/** The route with the figures of a campaign's inbox: an addition to V5, with its keys, limits and errors. */
export function inboxStatsRoutes(deps: CampaignAccessDependencies & CampaignInboxDependencies): RouteFamily {
  return async (server) =>
    addRoutes(server, [
      route(makeV5Dialect(deps), {
        method: 'GET',
        url: `${v5Base}/:id/inbox`,
        operationId: 'readCampaignInbox',
        summary: 'Count what became of the inbox messages of a campaign',
        params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
        answers: { 200: answer },
        refuses: [404],
        async handle({ workspaceId, params: { id: campaignId } }) {
          return presentV5(present(await readCampaignInbox(deps, { workspaceId, campaignId })));
        },
      }),
    ]);
}

function present({ campaignId, total, runs }: CampaignInbox) {
  return {
    campaign_id: campaignId,
    ...total,
    runs: runs.map(({ runId, createdAt, ...figures }) => ({
      ...{ id: runId, created_at: createdAt.toISOString() },
      ...figures,
    })),
  };
}
