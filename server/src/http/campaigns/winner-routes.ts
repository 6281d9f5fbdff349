import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { nameWinner } from '../../app/campaigns/name-winner.ts';
import { readWinner } from '../../app/campaigns/read-winner.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { makeRequireCampaignAccess } from './campaign-access.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { readBody } from './parse-search.ts';
import { parseWinner } from './parse-winner.ts';
import { presentV5, presentV5Error } from './present-v5.ts';
import { presentWinner } from './present-winner.ts';
import { requestIdHeader, v5Base, v5Dialect } from './v5-call.ts';
import { callerOf } from './warn-of-parts.ts';
import { winnerAnswer, winnerBody } from './winner-shapes.ts';

const url = `${v5Base}/:id/winner`;
const params = Type.Object({ id: Type.String({ description: 'The id of the campaign' }) });

/** The winner among the variations of a campaign: an addition to V5, with its keys, limits and errors. */
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
