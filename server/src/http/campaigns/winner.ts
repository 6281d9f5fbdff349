import { Type } from 'typebox';
import { nameWinner, readWinner } from '../../app/campaigns/winner.ts';
import type { WinnerChoice } from '../../app/campaigns/winner.ts';
import { learningMeasures, variationName } from '../../domain/experiments/variants.ts';
import { maxVariations } from '../../domain/limits/campaigns.ts';
import { required, text, unlessEmpty, word } from '../../fields/combinators.ts';
import { optionalSchemaOf, reading } from '../../fields/field.ts';
import { codeShape, named } from '../openapi/shapes.ts';
import { route } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import { readRequestId } from './authoring.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { callerOf, v5Base } from './dialects.ts';
import type { CampaignRouteDependencies, V5Caller } from './dialects.ts';
import { presentWinner } from './present-winner.ts';
import { presentV5 } from './v5-answers.ts';

const variationNames = Array.from({ length: maxVariations }, (_, index) => variationName(index + 1));

const winnerMembers = {
  request_id: text(),
  variation: required(unlessEmpty(word(variationNames, 'variation_1, variation_2 …; or metric'))),
  metric: {
    ...word(learningMeasures),
    schema: codeShape(learningMeasures, 'The one that is best with 95 % probability'),
  },
};
const winnerBody = optionalSchemaOf(winnerMembers, { title: 'CampaignWinnerRequest' });

const rate = (description: string) =>
  Type.Optional(Type.Number({ description: `${description}, in percent; absent until it was sent` }));
const compared = Type.Object({
  variation: Type.String(),
  sent: Type.Integer({ description: 'Messages that a provider accepted, in all runs of this version' }),
  successes: Type.Integer({
    description: 'Clicked messages, or users who fulfilled the primary goal, each once per run',
  }),
  rate: rate('Successes divided by sent'),
  rate_low: rate('Lower bound of the 95 % interval'),
  rate_high: rate('Upper bound of the 95 % interval'),
  best_percent: Type.Number({ description: 'Probability that it is the best one' }),
});

const nullable = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);
const winnerAnswer = named(
  'CampaignWinner',
  Type.Object({
    response_id: Type.String(),
    type: Type.Literal('campaign'),
    data: Type.Object({
      campaign_id: Type.String(),
      winner: nullable('The variation for all users without a message so far; null: the shares decide'),
      named_at: nullable('ISO 8601'),
      named_by: nullable('The key or the person'),
      figures: Type.Array(
        Type.Object({ metric: codeShape(learningMeasures, 'The counted metric'), variations: Type.Array(compared) }),
        { description: 'Has GOAL if the campaign has goals; empty for a campaign without variations' },
      ),
    }),
  }),
);

/** Routes for the winner among a campaign's variations: an addition to V5, with its keys, limits and errors. */
export function winnerRoutes(deps: CampaignRouteDependencies, v5: RouteDialect<V5Caller>): Route[] {
  const winner = {
    url: `${v5Base}/:id/winner`,
    params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
    answers: { 200: winnerAnswer },
  };
  return [
    route(v5, {
      method: 'GET',
      ...winner,
      operationId: 'getCampaignWinner',
      summary: 'Get the winner and the figures of the variations of a campaign',
      refuses: [404],
      async handle({ workspaceId, params: { id } }) {
        return presentV5(presentWinner(await readWinner(deps, { workspaceId, id })));
      },
    }),
    route(v5, {
      method: 'PUT',
      ...winner,
      operationId: 'nameCampaignWinner',
      summary: 'Send the winning variation to all users that the campaign has not been sent to',
      body: winnerBody,
      isRepeatable: true,
      refuses: [404, 422],
      read: ({ body, form }) => parseWinner(body, form.requestIdHeader),
      async handle(call) {
        call.warn();
        const command = { ...callerOf(call), ...call.params, choice: call.input };
        return presentV5(presentWinner(await nameWinner(deps, command)));
      },
    }),
    route(v5, {
      method: 'DELETE',
      ...winner,
      operationId: 'takeBackCampaignWinner',
      summary: 'Remove the winner, so that the shares apply again',
      refuses: [404, 413, 415, 422],
      async handle(call) {
        const choice = { kind: 'none' } as const;
        const command = { ...callerOf(call), idempotencyKey: undefined, ...call.params, choice };
        return presentV5(presentWinner(await nameWinner(deps, command)));
      },
    }),
  ];
}

/** Parses the winning variation, or the figures that choose it. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseWinner(body: Body, requestIdHeader: string | undefined): Exclude<WinnerChoice, { kind: 'none' }> {
  const reader = makeCampaignReader(body);
  const read = reading(reader, winnerMembers);
  readRequestId(reader, requestIdHeader);
  if (reader.isAbsent('metric')) {
    const name = read('variation');
    refuseFaults(reader);
    return { kind: 'variation', variation: variationNames.indexOf(name!) + 1 };
  }
  if (!reader.isAbsent('variation')) reader.invalid('variation', 'cannot be combined with metric');
  const measure = read('metric');
  refuseFaults(reader);
  return { kind: 'figures', measure: measure! };
}
