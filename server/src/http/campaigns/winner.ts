import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { nameWinner, readWinner } from '../../app/campaigns/winner.ts';
import type { WinnerChoice } from '../../app/campaigns/winner.ts';
import { learningMeasures, variationName } from '../../domain/experiments/variants.ts';
import { maxVariations } from '../../domain/limits/campaigns.ts';
import { describeOperation } from '../openapi/operation.ts';
import { codeShape, named, text } from '../openapi/shapes.ts';
import { toServiceError } from '../route/errors.ts';
import { refuseOtherMethods } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { readRequestId } from './authoring.ts';
import { makeRequireCampaignAccess, callerOf } from './call.ts';
import type { CampaignRouteDependencies } from './call.ts';
import { makeCampaignReader, refuseFaults } from './campaign-reader.ts';
import type { Body } from './campaign-reader.ts';
import { presentWinner } from './present-winner.ts';
import { readBody } from './search.ts';
import { presentV5, presentV5Error } from './v5-answers.ts';
import { requestIdHeader, v5Base, v5Dialect } from './v5.ts';

/*
 * Bodies and responses for the winner among a campaign's variations, an addition. They document; parseWinner implements the
 * rules.
 */

const winnerBody = named(
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
const winnerAnswer = named(
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

const url = `${v5Base}/:id/winner`;
const params = Type.Object({ id: Type.String({ description: 'The id of the campaign' }) });

/** Routes for the winner among a campaign's variations: an addition to V5, with its keys, limits and errors. */
export function winnerRoutes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV5Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional' }));
    const scope = server as unknown as FastifyInstance;
    addRead(scope, deps);
    addName(scope, deps);
    addTakeBack(scope, deps);
    refuseOtherMethods(server, url, ['GET', 'PUT', 'DELETE']);
  };
}

function addRead(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const schema = describeOperation(v5Dialect, {
    operationId: 'getCampaignWinner',
    summary: 'Get the winner among the variations of a campaign, and how they stand',
    params,
    answers: { 200: winnerAnswer },
    refuses: [404],
  });
  server.get(url, { schema }, async (request) => {
    const { id } = request.params as { id: string };
    return presentV5(presentWinner(await readWinner(deps, { workspaceId: request.facts.workspaceId!, id })));
  });
}

function addName(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const schema = describeOperation(v5Dialect, {
    operationId: 'nameCampaignWinner',
    summary: 'Give the winning variation to everybody who was not sent to yet',
    params,
    body: winnerBody,
    isRepeatable: true,
    answers: { 200: winnerAnswer },
    refuses: [404, 422],
  });
  server.put(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const choice = parseWinner(body, requestIdHeader(deps, request));
    const { id } = request.params as { id: string };
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: winnerBody });
    return presentV5(presentWinner(await nameWinner(deps, { ...callerOf(request), id, choice })));
  });
}

function addTakeBack(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const schema = describeOperation(v5Dialect, {
    operationId: 'takeBackCampaignWinner',
    summary: 'Let the shares decide again which variation is whose',
    params,
    answers: { 200: winnerAnswer },
    refuses: [404, 413, 415, 422],
  });
  server.delete(url, { schema }, async (request) => {
    const { id } = request.params as { id: string };
    const command = { ...callerOf(request), idempotencyKey: undefined, id, choice: { kind: 'none' } as const };
    return presentV5(presentWinner(await nameWinner(deps, command)));
  });
}

const names = Array.from({ length: maxVariations }, (_, index) => variationName(index + 1));

/** Parses the winning variation, or the figures that choose it. @throws ServiceError CAMPAIGN_REQUEST_INVALID */
function parseWinner(body: Body, requestIdHeader: string | undefined): Exclude<WinnerChoice, { kind: 'none' }> {
  const reader = makeCampaignReader(body);
  readRequestId(reader, requestIdHeader);
  if (reader.isAbsent('metric')) {
    const name = reader.requires('variation') ? reader.choice('variation', names) : undefined;
    refuseFaults(reader);
    return { kind: 'variation', variation: names.indexOf(name!) + 1 };
  }
  if (!reader.isAbsent('variation')) reader.invalid('variation', 'cannot stand beside metric');
  const measure = reader.choice('metric', learningMeasures);
  refuseFaults(reader);
  return { kind: 'figures', measure: measure! };
}
