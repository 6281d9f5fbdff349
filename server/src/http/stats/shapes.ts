import { Type } from 'typebox';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import { statsErrors } from './present.ts';

/**
 * Bodies of the statistics (fact 7). They document the fields and tell unknown ones; parse-stats.ts holds the rules.
 */
export const statsBody = named(
  'StatsRequest',
  Type.Object({
    request_id: Type.String({ description: 'Echoed as response_id' }),
    campaign_ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 10 })),
    start_date: Type.String({ description: 'YYYY-MM-DD in the zone of the workspace' }),
    end_date: Type.String({ description: 'YYYY-MM-DD, included; at most 30 days after start_date' }),
    attribution_type: Type.String({
      description:
        'VIEW_THROUGH, CLICK_THROUGH, IN_SESSION, TOTAL_CONVERSIONS or CLICK_CONVERSIONS; conversions are known for TOTAL_CONVERSIONS',
    }),
    metric_type: Type.Union([Type.Literal('TOTAL'), Type.Literal('UNIQUE')]),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Campaigns to pass over; default 0' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'Default 10' })),
  }),
);

const Figure = Type.Union([Type.Number(), Type.Null()], { description: 'null: not known' });

const counted = { conversions: Figure, total: Figure, unique: Figure };
const cvr = Type.Union([Type.Number(), Type.Null()], {
  description: 'Percent of eligible_users who fulfilled the goal; null: not known',
});

const controlGroup = named(
  'StatsControlGroup',
  Type.Object({
    performance_stats: Type.Object({
      eligible_users: Type.Integer({ description: 'Users of the runs who are in the group' }),
    }),
    conversion_goal_stats: Type.Record(Type.String(), Type.Object({ ...counted, cvr })),
  }),
);

const allVariations = named(
  'StatsFigures',
  Type.Object({
    performance_stats: Type.Object({
      attempted: Figure,
      sent: Figure,
      failed: Figure,
      impression: Figure,
      click: Figure,
      ctr: Figure,
      sent_rate: Figure,
      failure_rate: Figure,
      eligible_users: Type.Optional(
        Type.Integer({
          description:
            'Users of the runs who are in no control group; of campaigns with such groups or with variations',
        }),
      ),
      clicked_rate: Type.Optional(
        Type.Union([Type.Number(), Type.Null()], {
          description: 'Percent of the sent messages that were clicked, each once; of a variation or a locale',
        }),
      ),
      clicked_rate_low: Type.Optional(
        Type.Union([Type.Number(), Type.Null()], { description: 'Lower bound of its 95 % interval' }),
      ),
      clicked_rate_high: Type.Optional(
        Type.Union([Type.Number(), Type.Null()], { description: 'Upper bound of its 95 % interval' }),
      ),
    }),
    conversion_goal_stats: Type.Record(
      Type.String(),
      Type.Object({
        ...counted,
        cvr: Type.Optional(cvr),
        cvr_low: Type.Optional(
          Type.Union([Type.Number(), Type.Null()], { description: 'Lower bound of the 95 % interval of cvr' }),
        ),
        cvr_high: Type.Optional(
          Type.Union([Type.Number(), Type.Null()], { description: 'Upper bound of the 95 % interval of cvr' }),
        ),
        uplift: Type.Optional(
          Type.Union([Type.Number(), Type.Null()], {
            description: 'Percent by which cvr is above that of the control group; null: not known',
          }),
        ),
        uplift_low: Type.Optional(
          Type.Union([Type.Number(), Type.Null()], { description: 'Lower bound of the 95 % interval of uplift' }),
        ),
        uplift_high: Type.Optional(
          Type.Union([Type.Number(), Type.Null()], { description: 'Upper bound of the 95 % interval of uplift' }),
        ),
      }),
    ),
    delivery_funnel: Type.Object({ sent: Figure, impressions: Figure }),
    failure_breakdown: Type.Union([Type.Record(Type.String(), Type.Integer()), Type.Null()]),
  }),
);

const platformStats = named(
  'PlatformStats',
  Type.Object({
    locales: Type.Object(
      {
        all_locales: Type.Object({
          variations: Type.Object(
            {
              all_variations: allVariations,
              campaign_control_group: Type.Optional(controlGroup),
              global_control_group: Type.Optional(controlGroup),
            },
            {
              additionalProperties: allVariations,
              description: 'and variation_1, variation_2 … where there are several',
            },
          ),
        }),
      },
      {
        additionalProperties: Type.Object({ variations: Type.Record(Type.String(), allVariations) }),
        description: 'and each locale of a campaign in several',
      },
    ),
  }),
);

export const statsAnswer = named(
  'CampaignStats',
  Type.Object({
    response_id: Type.String(),
    total_campaigns: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
    data: Type.Record(Type.String(), Type.Array(Type.Object({ platforms: Type.Record(Type.String(), platformStats) }))),
  }),
);

export const statsError = named(
  'StatsError',
  Type.Object({
    title: codeShape(
      Object.values(statsErrors).map(({ title }) => title),
      'What kind of refusal it is',
    ),
    description: Type.String(),
    code: Type.String({ description: 'Eight letters that find this call in the API log' }),
  }),
);
