import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { listExecutions } from '../../app/campaigns/list-executions.ts';
import {
  getCampaign,
  listCampaignMeta,
  readSearchSettings,
  searchCampaigns,
} from '../../app/campaigns/search-campaigns.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { makeRequireCampaignAccess } from './campaign-access.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { v5MetaAnswer } from './authoring-shapes.ts';
import { parseMeta, parsePage, parseSearch, readBody } from './parse-search.ts';
import { presentV5, presentV5Campaign, presentV5Error, presentV5Executions, presentV5Meta } from './present-v5.ts';
import {
  v5CampaignAnswer,
  v5ExecutionsAnswer,
  v5MetaBody,
  v5PageBody,
  v5SearchAnswer,
  v5SearchBody,
  v5SearchBodyWithoutVersions,
} from './shapes.ts';
import { addV5Authoring } from './v5-authoring-routes.ts';
import { requestIdHeader, v5Base, v5Dialect } from './v5-call.ts';

/** Campaign search, one campaign, and executions, V5 (interface 4.6, decision D42, D43). */
export function campaignV5Routes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes document the routes; the family's own errors come from parse-search.ts.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV5Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional' }));
    addV5Authoring(server, deps);
    addSearch(server, deps);
    addMeta(server, deps);
    addOne(server, deps);
    addExecutions(server, deps);
  };
}

function addSearch(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { vendorHeaders } = deps;
  const url = `${v5Base}/search`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'searchCampaigns',
    summary: 'Search campaigns, V5',
    body: v5SearchBody,
    answers: { 200: v5SearchAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const { versioning } = await readSearchSettings(deps, workspaceId);
    const dialect = { version: 'V5', versioning } as const;
    const asked = parseSearch(body, { ...dialect, requestIdHeader: requestIdHeader(deps, request) });
    const shape = versioning === 'on' ? v5SearchBody : v5SearchBodyWithoutVersions;
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape });
    const found = await searchCampaigns(deps, { ...asked, ...dialect, workspaceId });
    return presentV5({ campaigns: found.campaigns.map((campaign) => presentV5Campaign(campaign, versioning)) });
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addMeta(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { vendorHeaders } = deps;
  const url = `${v5Base}/meta`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'listCampaignMeta',
    summary: 'List campaigns in short, V5',
    body: v5MetaBody,
    answers: { 200: v5MetaAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const { versioning } = await readSearchSettings(deps, workspaceId);
    const dialect = { version: 'V5', versioning } as const;
    const asked = parseMeta(body, { ...dialect, requestIdHeader: requestIdHeader(deps, request) });
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v5MetaBody });
    const listed = await listCampaignMeta(deps, { ...asked, ...dialect, workspaceId });
    return presentV5({ campaigns: listed.map((one) => presentV5Meta(one, versioning)) });
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addOne(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const url = `${v5Base}/:id`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'getCampaign',
    summary: 'Get a campaign, V5',
    params: Type.Object({ id: Type.String({ description: 'The id of the campaign or of one of its versions' }) }),
    answers: { 200: v5CampaignAnswer },
    refuses: [404],
  });
  server.get(url, { schema }, async (request) => {
    const workspaceId = request.facts.workspaceId!;
    const { id } = request.params as { id: string };
    const { versioning } = await readSearchSettings(deps, workspaceId);
    return presentV5(presentV5Campaign(await getCampaign(deps, { workspaceId, id }), versioning));
  });
  refuseOtherMethods(server, url, ['GET', 'PATCH']);
}

function addExecutions(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const { vendorHeaders } = deps;
  const url = `${v5Base}/:parent_campaign_id/executions`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'listExecutions',
    summary: 'List the child campaigns of a recurring campaign, V5',
    params: Type.Object({ parent_campaign_id: Type.String({ description: 'The id of the recurring campaign' }) }),
    body: v5PageBody,
    answers: { 200: v5ExecutionsAnswer },
    refuses: [404, 422],
  });
  server.post(url, { schema }, async (request, reply) => {
    const workspaceId = request.facts.workspaceId!;
    const body = readBody(request);
    const dialect = { version: 'V5', versioning: 'off', requestIdHeader: requestIdHeader(deps, request) } as const;
    const asked = parsePage(body, dialect);
    warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: v5PageBody });
    const { parent_campaign_id: parentId } = request.params as { parent_campaign_id: string };
    return presentV5Executions(await listExecutions(deps, { ...asked, workspaceId, parentId }));
  });
  refuseOtherMethods(server, url, ['POST']);
}
