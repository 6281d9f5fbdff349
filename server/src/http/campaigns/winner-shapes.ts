import { Type } from 'typebox';
import { learningMeasures } from '../../domain/experiments/variants.ts';
import { codeShape } from '../openapi/code-shape.ts';
import { named } from '../openapi/named.ts';
import { text } from './shape-members.ts';

/* Bodies and answers of the winner among a campaign's variations, an addition. They document; parse-winner.ts holds the rules. */

export const winnerBody = named(
  'CampaignWinnerRequest',
  Type.Object({
    request_id: text(),
    variation: text('variation_1, variation_2 …; or metric'),
    metric: Type.Optional(codeShape(learningMeasures, 'The one that is the best by these figures with 95 %')),
  }),
);

const rate = (description: string) =>
  Type.Optional(Type.Number({ description: `${description}, in percent; absent while nothing was sent of it` }));
const compared = Type.Object({
  variation: Type.String(),
  sent: Type.Integer({ description: 'Messages that a provider accepted, in all runs of this version' }),
  successes: Type.Integer({
    description: 'How many were clicked; or users who fulfilled the primary goal, each once a run',
  }),
  rate: rate('Successes by sent'),
  rate_low: rate('Lower end of the 95 % interval'),
  rate_high: rate('Upper end of the 95 % interval'),
  best_percent: Type.Number({ description: 'How likely it is the best of them' }),
});

const nullable = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
export const winnerAnswer = named(
  'CampaignWinner',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: Type.Object({
      campaign_id: Type.String(),
      winner: nullable('The variation of all who were not sent to yet; null: the shares decide'),
      named_at: nullable('ISO 8601'),
      named_by: nullable('The key, or who it was'),
      figures: Type.Array(
        Type.Object({ metric: codeShape(learningMeasures, 'What is counted'), variations: Type.Array(compared) }),
        { description: 'GOAL where the campaign has goals; empty without variations' },
      ),
    }),
  }),
);
