import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { AuthoringDependencies } from '../../app/campaigns/authoring.ts';
import { readCampaignFigures } from '../../app/campaigns/campaign-figures.ts';
import type { FiguresQuestion } from '../../app/campaigns/campaign-figures.ts';
import { nameWinner } from '../../app/campaigns/winner.ts';
import { attributionTypes } from '../../domain/campaigns/conversions.ts';
import type { AttributionType } from '../../domain/campaigns/conversions.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import { learningMeasures } from '../../domain/experiments/variants.ts';
import { consoleApi as api } from './access.ts';
import { presentFigureFile } from './campaign-figure-file.ts';
import { attachmentOf } from './csv.ts';
import { changeOf, closed, Id, idOf, workspaceId } from './requests.ts';
import { Platform, described, oneOf, orNull } from './shape-parts.ts';

export const Attribution = oneOf(attributionTypes);

export const FigureRate = described(
  Type.Object({ percent: Type.Number(), low: Type.Number(), high: Type.Number() }),
  'A rate in percent, with the bounds of its 95 % interval.',
);

export const ContentFigures = Type.Object({
  variation: described(orNull(Type.Number()), 'Null: all variations.'),
  locale: described(orNull(Type.String()), 'Null: all locales.'),
  devices: described(
    Type.Number(),
    'Devices of the runs, each counted once per run, whatever the outcome of its message.',
  ),
  attempted: Type.Number(),
  accepted: Type.Number(),
  failed: Type.Number(),
  gone: Type.Number(),
  shown: described(Type.Number(), 'Messages that were shown, each counted once.'),
  clicked: described(Type.Number(), 'Messages that were clicked, each counted once.'),
  impressions: described(Type.Number(), 'All reports, including repeated ones.'),
  clicks: Type.Number(),
  shownRate: described(orNull(FigureRate), 'Percent of the accepted messages.'),
  clickedRate: described(orNull(FigureRate), 'Percent of the accepted messages.'),
  eligibleUsers: described(
    orNull(Type.Number()),
    'Users that the campaign was meant for, each counted once per run; null if they were not counted.',
  ),
  goals: Type.Array(
    Type.Object({
      name: Type.String(),
      total: described(Type.Number(), 'Events.'),
      users: described(Type.Number(), 'Users, each counted once per run.'),
      revenue: orNull(Type.Number()),
      currency: orNull(Type.String()),
      rate: described(orNull(FigureRate), 'Percent of the eligible users.'),
    }),
  ),
});

export const PlatformFigures = Type.Object({
  platform: Platform,
  reachableUsers: described(
    orNull(Type.Number()),
    'Users with a device that can be sent to; null if they were not counted.',
  ),
  installedUsers: described(orNull(Type.Number()), 'Users with a device that has the app.'),
  all: ContentFigures,
  contents: Type.Array(ContentFigures),
  groups: Type.Array(
    Type.Object({
      group: described(orNull(oneOf(controlGroups)), 'Null for the users that the message was meant for.'),
      users: Type.Number(),
      goals: Type.Array(
        Type.Object({
          name: Type.String(),
          total: Type.Number(),
          users: Type.Number(),
          percent: described(orNull(Type.Number()), 'Percent of the users of the group.'),
        }),
      ),
    }),
  ),
  uplifts: described(
    Type.Array(
      Type.Object({
        name: Type.String(),
        percent: orNull(Type.Number()),
        low: orNull(Type.Number()),
        high: orNull(Type.Number()),
      }),
    ),
    'By how many percent more often a goal was reached than in the control group, with the 95 % interval.',
  ),
});

/** The statistics of a campaign and all its runs. */
export const CampaignFigures = Type.Object({
  name: Type.String(),
  attribution: Attribution,
  windowHours: described(Type.Number(), 'How long after a message an event counts as a conversion.'),
  runs: described(Type.Number(), 'Runs that have begun.'),
  all: ContentFigures,
  platforms: Type.Array(PlatformFigures),
  contents: described(
    Type.Array(ContentFigures),
    'The figures of each content, over all platforms; empty if all users get the same content.',
  ),
  leaders: described(
    Type.Array(
      Type.Object({
        measure: oneOf(learningMeasures),
        variation: Type.Number(),
        bestPercent: described(Type.Number(), 'The probability that this variation is the best one, in percent.'),
        isBest: described(
          Type.Boolean(),
          'True if the probability is high enough to name this variation as the best one.',
        ),
      }),
    ),
    'One comparison for each measure; empty for a campaign without variations.',
  ),
  winner: Type.Object({
    variation: described(
      orNull(Type.Number()),
      'The variation for all users that the campaign has not been sent to; null if the shares apply.',
    ),
    namedAt: orNull(Type.String()),
    namedBy: orNull(Type.String()),
    isLearned: described(Type.Boolean(), 'True if the campaign learns which variation is the best.'),
  }),
});

export const NamedWinner = Type.Object({ variation: orNull(Type.Number()) });

const Asked = Type.Object({
  workspaceId,
  attribution: Type.Optional(Attribution),
});
const Winner = Type.Object(
  { variation: Type.Union([Type.Integer({ minimum: 1, maximum: 100 }), Type.Null()]) },
  closed,
);

/** Routes for the statistics of a campaign, on the screen and as a file, and for choosing the winner from them. */
export function campaignFigureRoutes(
  server: FastifyInstance,
  { campaigns }: { campaigns: AuthoringDependencies },
): void {
  const config = { permission: 'overview.read' as const };
  const schema = { hide: true, querystring: Asked, params: Id };
  server.get(
    `${api}/campaigns/:id/figures`,
    { schema: { ...schema, response: { 200: CampaignFigures } }, config },
    (request) => readCampaignFigures(campaigns, questionOf(request)),
  );
  server.get(`${api}/campaigns/:id/figures.csv`, { schema, config }, async (request, reply) => {
    const figures = await readCampaignFigures(campaigns, questionOf(request));
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', attachmentOf([figures.name, fileWords[figures.attribution]]))
      .header('x-content-type-options', 'nosniff')
      .send(presentFigureFile(figures));
  });
  const naming = { ...schema, body: Winner, response: { 200: NamedWinner } };
  const mayChange = { permission: 'campaigns.write' as const };
  server.put(`${api}/campaigns/:id/winner`, { schema: naming, config: mayChange }, async (request) => {
    const { variation } = request.body as Static<typeof Winner>;
    const { campaign } = await nameWinner(campaigns, {
      ...{ ...changeOf(request), id: idOf(request), idempotencyKey: undefined, rawBody: '' },
      choice: variation === null ? { kind: 'none' } : { kind: 'variation', variation },
    });
    return { variation: campaign.winner };
  });
}

/** Distinguishes the files of one campaign. */
const fileWords: Record<AttributionType, string> = {
  TOTAL_CONVERSIONS: 'total-conversions',
  CLICK_CONVERSIONS: 'click-conversions',
  CLICK_THROUGH: 'click-through',
  VIEW_THROUGH: 'view-through',
  IN_SESSION: 'in-session',
};

function questionOf(request: FastifyRequest): FiguresQuestion {
  const { workspaceId, attribution = 'TOTAL_CONVERSIONS' } = request.query as Static<typeof Asked>;
  return { workspaceId, id: idOf(request), attribution };
}
