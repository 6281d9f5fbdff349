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
        'After which an event counts as a conversion: VIEW_THROUGH (the message was shown), CLICK_THROUGH (clicked), IN_SESSION (in the session of the click), TOTAL_CONVERSIONS (sent) or CLICK_CONVERSIONS (sent, and clicked meanwhile)',
    }),
    metric_type: Type.Union([Type.Literal('TOTAL'), Type.Literal('UNIQUE')]),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Campaigns to pass over; default 0' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, description: 'Default 10' })),
  }),
);

/** A number; absent where it is not known. */
const count = (description: string) => Type.Optional(Type.Integer({ description }));
const rate = (description: string) => Type.Optional(Type.Number({ description }));
const interval = (of: string) => ({
  [`${of}_low`]: rate(`Lower bound of the 95 % interval of ${of}`),
  [`${of}_high`]: rate(`Upper bound of the 95 % interval of ${of}`),
});

const counted = {
  conversions: Type.Integer({ description: 'total or unique, by metric_type' }),
  total: Type.Integer({ description: 'Events that fulfilled the goal, by attribution_type' }),
  unique: Type.Integer({ description: 'Users who did' }),
};
const cvr = rate('Percent of eligible_users who fulfilled the goal, each once a run');

const controlGroup = named(
  'StatsControlGroup',
  Type.Object({
    performance_stats: Type.Object({
      eligible_users: Type.Integer({ description: 'Users of the runs who are in the group' }),
    }),
    conversion_goal_stats: Type.Optional(
      Type.Record(Type.String(), Type.Object({ ...counted, cvr }), { description: 'For TOTAL_CONVERSIONS' }),
    ),
  }),
);

const performanceStats = Type.Object({
  attempted: count('Devices that were tried: sent, failed, or waiting for another attempt'),
  sent: count('Messages that a provider accepted'),
  failed: count('Messages that a provider refused for good, or that expired'),
  bounced: count('Of these: the provider knows no such address any more'),
  delivered: count('Messages that a device reported as shown, each once'),
  impression: count('Reports that a message was shown; by UNIQUE devices'),
  click: count('Reports that one was clicked; by UNIQUE devices'),
  closed_click: count('Reports that one was closed without a click; by UNIQUE devices'),
  ctr: rate('Percent: click by impression'),
  delivery_rate: rate('Percent: delivered by sent'),
  sent_rate: rate('Percent: sent by attempted'),
  failure_rate: rate('Percent: attempted less sent by attempted'),
  eligible_users: count('Users of the runs who are in no control group, each once a run'),
  clicked_rate: rate('Percent of the sent messages that were clicked, each once; of a variation or a locale'),
  ...interval('clicked_rate'),
});

const goalStats = Type.Object({
  ...counted,
  cvr,
  ...interval('cvr'),
  uplift: rate('Percent by which cvr is above that of the control group'),
  ...interval('uplift'),
  revenue: rate('What the events brought, where the goal has a revenue_attribute'),
  revenue_currency: Type.Optional(Type.String()),
});

const deliveryFunnel = Type.Object({
  reachable_users_in_segment: count('Users of the runs with a device of the platform that is sent to'),
  segment_after_uninstall: count('Users of the runs with a device of the platform that has the app'),
  users_after_dup: count('Those of the reachable users who are in no control group: eligible_users'),
  user_devices: count('Devices of the runs, whatever became of their messages'),
  active_device_token: count('Of these: all but those whose address turned out to be dead'),
  after_fc: count('Of these: all but those that a frequency cap withheld'),
  sent: count('As above'),
  impressions: count('As above'),
});

const allVariations = named(
  'StatsFigures',
  Type.Object({
    performance_stats: performanceStats,
    conversion_goal_stats: Type.Record(Type.String(), goalStats),
    delivery_funnel: deliveryFunnel,
    failure_breakdown: Type.Optional(Type.Record(Type.String(), Type.Integer())),
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
