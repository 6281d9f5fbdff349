import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { gatewayError } from '../auth/shapes.ts';
import type { RouteFamily } from '../build-server.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { makeRequireCampaignAccess } from './campaign-access.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { parsePage, parseSearch, readBody } from './parse-search.ts';
import { presentV5, presentV5Campaign, presentV5Error, presentV5Executions } from './present-v5.ts';
import {
  v5CampaignAnswer,
  v5CampaignError,
  v5ExecutionsAnswer,
  v5PageBody,
  v5SearchAnswer,
  v5SearchBody,
  v5SearchBodyWithoutVersions,
} from './shapes.ts';

const base = '/v5/campaigns';
const tags = ['Campaigns'];
const security = [{ campaignsKey: [] }, { bearer: [] }];
const refusals = {
  400: v5CampaignError,
  401: Type.Union([v5CampaignError, gatewayError]),
  403: Type.Union([v5CampaignError, gatewayError]),
  429: v5CampaignError,
};

/** Campaign search, one campaign, and executions, V5 (interface 4.6, decisions D42, D43). */
export function campaignV5Routes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-search.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV5Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional' }));
    addSearch(server, deps);
    addOne(server, deps);
    addExecutions(server, deps);
  };
}

function addSearch(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { campaigns, vendorHeaders } = deps;
  const url = `${base}/search`;
  const summary = 'Search campaigns, V5';
  const schema = { tags, summary, security, body: v5SearchBody, response: { 200: v5SearchAnswer, ...refusals } };
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const { versioning } = await campaigns.settings(workspaceId);
    const dialect = { version: 'V5', versioning } as const;
    const asked = parseSearch(body, { ...dialect, requestIdHeader: requestIdHeader(deps, request) });
    const shape = versioning === 'on' ? v5SearchBody : v5SearchBodyWithoutVersions;
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape });
    const found = await campaigns.search({ ...asked, ...dialect, workspaceId });
    return presentV5({ campaigns: found.campaigns.map((campaign) => presentV5Campaign(campaign, versioning)) });
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addOne(server: FastifyInstance, { campaigns }: CampaignRouteDependencies): void {
  const url = `${base}/:id`;
  const schema = {
    tags,
    summary: 'Get a campaign, V5',
    security,
    params: Type.Object({ id: Type.String() }),
    response: { 200: v5CampaignAnswer, ...refusals, 404: v5CampaignError },
  };
  server.get(url, { schema }, async (request) => {
    const workspaceId = request.facts.workspaceId!;
    const { id } = request.params as { id: string };
    const { versioning } = await campaigns.settings(workspaceId);
    return presentV5(presentV5Campaign(await campaigns.get({ workspaceId, id }), versioning));
  });
  refuseOtherMethods(server, url, ['GET']);
}

function addExecutions(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { campaigns, vendorHeaders } = deps;
  const url = `${base}/:parent_campaign_id/executions`;
  const schema = {
    tags,
    summary: 'List the child campaigns of a recurring campaign, V5',
    security,
    params: Type.Object({ parent_campaign_id: Type.String() }),
    body: v5PageBody,
    response: { 200: v5ExecutionsAnswer, ...refusals, 404: v5CampaignError, 422: v5CampaignError },
  };
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const dialect = { version: 'V5', versioning: 'off', requestIdHeader: requestIdHeader(deps, request) } as const;
    const asked = parsePage(body, dialect);
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v5PageBody });
    const { parent_campaign_id: parentId } = request.params as { parent_campaign_id: string };
    return presentV5Executions(await campaigns.listExecutions({ ...asked, workspaceId, parentId }));
  });
  refuseOtherMethods(server, url, ['POST']);
}

function requestIdHeader({ vendorHeaders }: CampaignRouteDependencies, request: FastifyRequest): string | undefined {
  return vendorHeaders.read(request.headers, 'x-*-request-id');
}
