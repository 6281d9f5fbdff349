import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { listExecutions } from '../../app/campaigns/list-executions.ts';
import { readSearchSettings, searchCampaigns } from '../../app/campaigns/search-campaigns.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { makeRequireCampaignAccess } from './campaign-access.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { announceDeprecation } from './deprecation.ts';
import { parsePage, parseSearch, readBody } from './parse-search.ts';
import { presentV1Campaign, presentV1Error, presentV1Executions } from './present-v1.ts';
import { v1ExecutionsAnswer, v1PageBody, v1SearchAnswer, v1SearchBody } from './shapes.ts';
import { addV1Authoring } from './v1-authoring-routes.ts';
import { operationIdOf, v1Dialect } from './v1-call.ts';

/** Campaigns, their search and executions, V1 (interface 4.6, fact 6.1), with and without the prefix (decision D3). */
export function campaignV1Routes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-search.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV1Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', async (_request, reply) => announceDeprecation(reply));
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'required' }));
    for (const prefix of ['/v1/campaigns', '/core-services/v1/campaigns']) {
      addV1Authoring(server, deps, prefix);
      addSearch(server, deps, `${prefix}/search`);
      addExecutions(server, deps, `${prefix}/:parent_id/executions`);
    }
  };
}

function addSearch(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const { vendorHeaders } = deps;
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('searchCampaignsV1', url),
    summary: 'Search campaigns, or find one by its id, V1',
    body: v1SearchBody,
    answers: { 200: v1SearchAnswer },
    answerHeaders: { 'X-Total-Count': Type.Integer({ description: 'With a list: how many there are' }) },
  });
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const asked = parseSearch(body, { version: 'V1', versioning: 'off' });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v1SearchBody });
    const { v1Answer } = await readSearchSettings(deps, workspaceId);
    const found = await searchCampaigns(deps, { ...asked, workspaceId, version: 'V1', versioning: 'off' });
    const rows = found.campaigns.map(presentV1Campaign);
    // Decision D41.
    if (v1Answer === 'array') return reply.header('x-total-count', String(found.totalCount)).send(rows);
    return { total_count: found.totalCount, campaigns: rows };
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addExecutions(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const { vendorHeaders } = deps;
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('listExecutionsV1', url),
    summary: 'List the child campaigns of a recurring campaign, V1',
    params: Type.Object({ parent_id: Type.String({ description: 'The id of the recurring campaign' }) }),
    body: v1PageBody,
    answers: { 200: v1ExecutionsAnswer },
    refuses: [404, 422],
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const asked = parsePage(body, { version: 'V1', versioning: 'off' });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v1PageBody });
    const { parent_id: parentId } = request.params as { parent_id: string };
    const workspaceId = request.facts.workspaceId!;
    return presentV1Executions(await listExecutions(deps, { ...asked, workspaceId, parentId }));
  });
  refuseOtherMethods(server, url, ['POST']);
}
