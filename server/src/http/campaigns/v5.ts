import type { FastifyRequest, FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  changeDraftCampaign,
  createDraftCampaign,
  publishDraftCampaign,
  validateDraftCampaign,
} from '../../app/campaigns/create-campaign.ts';
import { actOnCampaigns } from '../../app/campaigns/manage-campaigns.ts';
import { previewCampaign } from '../../app/campaigns/preview-campaign.ts';
import {
  listExecutions,
  getCampaign,
  listCampaignMeta,
  readSearchSettings,
  searchCampaigns,
} from '../../app/campaigns/search-campaigns.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { toServiceError } from '../route/errors.ts';
import { refuseOtherMethods } from '../route/route.ts';
import type { RouteDialect } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  v5MetaAnswer,
  v5ChangeAnswer,
  v5ChangeBody,
  v5CreateAnswer,
  v5CreateBody,
  v5PreviewAnswer,
  v5PreviewBody,
  v5StatusAnswer,
  v5StatusBody,
  v5TestAnswer,
  v5TestBody,
  v5ValidateAnswer,
  parseChange,
  parseCreate,
  parseV5Status,
} from './authoring.ts';
import { makeRequireCampaignAccess, callerOf, warnOfParts } from './call.ts';
import type { CampaignAccessDependencies, CampaignRouteDependencies } from './call.ts';
import {
  v5CampaignError,
  parseMeta,
  parsePage,
  parseSearch,
  readBody,
  v5CampaignAnswer,
  v5ExecutionsAnswer,
  v5MetaBody,
  v5PageBody,
  v5SearchAnswer,
  v5SearchBody,
  v5SearchBodyWithoutVersions,
} from './search.ts';
import { parsePreview, parseTest, presentPreview, presentTestResults } from './test-and-preview.ts';
import {
  campaignV5Errors,
  presentV5,
  presentV5Campaign,
  presentV5Error,
  presentV5Executions,
  presentV5Meta,
} from './v5-answers.ts';

export const v5Base = '/v5/campaigns';

/** The settings that all V5 routes share. */
export const v5Dialect: Dialect = {
  tag: 'Campaigns',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': Type.Optional(requestHeaders.appKey), 'X-*-Request-Id': requestHeaders.requestId },
  refusals: {
    errors: campaignV5Errors,
    shape: v5CampaignError,
    codeOf: (name) => campaignV5Errors[name]?.code,
  },
  isLimited: true,
};

/** Makes the dialect of V5 for another subject, with its own key if it has one. */
export function makeV5Dialect(
  deps: CampaignAccessDependencies,
  { scope = 'campaign', ...described }: Partial<Pick<Dialect, 'tag' | 'credentials'>> & { scope?: 'campaign' | 'data' },
): RouteDialect<KeyCaller> {
  return {
    ...v5Dialect,
    ...described,
    vendorHeaders: deps.vendorHeaders,
    onRequest: [makeRequireCampaignAccess(deps, { appKey: 'optional', scope })],
    callerOf: keyCallerOf,
    presentError: presentV5Error,
  };
}

export function requestIdHeader(
  { vendorHeaders }: Pick<CampaignRouteDependencies, 'vendorHeaders'>,
  request: FastifyRequest,
): string | undefined {
  return vendorHeaders.read(request.headers, 'x-*-request-id');
}

/** Campaign search, one campaign, and executions, V5 (interface 4.6, decision D42, D43). */
export function campaignV5Routes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes only document the routes; the parsers in search.ts report the family's own errors.
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

const params = Type.Object({ id: Type.String({ description: 'The id of the draft or the campaign' }) });

/**
 * Adds the routes of V5 that create, change, validate and publish drafts, that stop, pause and resume campaigns, and that
 * test (fact 6.1).
 */
function addV5Authoring(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  addCreate(server, deps);
  addTest(server, deps);
  addPreview(server, deps);
  addChange(server, deps);
  addValidate(server, deps);
  addStatus(server, deps);
}

function addCreate(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const schema = describeOperation(v5Dialect, {
    operationId: 'createCampaign',
    summary: 'Create a draft of a campaign, V5',
    body: v5CreateBody,
    isRepeatable: true,
    answers: { 201: v5CreateAnswer },
  });
  server.post(v5Base, { schema }, async (request, reply) => {
    const body = readBody(request);
    const asked = parseCreate(body, { version: 'V5', requestIdHeader: requestIdHeader(deps, request) });
    const { id } = await createDraftCampaign(deps, { ...callerOf(request), ...asked });
    warnOfParts(deps, { request, reply, shape: v5CreateBody });
    return reply.code(201).send(presentV5({ id, status: 'DRAFT' as const }));
  });
  refuseOtherMethods(server, v5Base, ['POST']);
}

function addTest(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const url = `${v5Base}/test`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'testCampaign',
    summary: 'Send a test of a campaign to named users, V5',
    body: v5TestBody,
    isRepeatable: true,
    answers: { 200: v5TestAnswer },
    refuses: [404],
  });
  server.post(url, { schema }, async (request, reply) => {
    const asked = parseTest(readBody(request), { version: 'V5', requestIdHeader: requestIdHeader(deps, request) });
    const { results } = await testCampaign(deps, { ...callerOf(request), ...asked, requestId: undefined });
    warnOfParts(deps, { request, reply, shape: v5TestBody });
    return presentV5(presentTestResults(results));
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addPreview(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const url = `${v5Base}/preview`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'previewCampaign',
    summary: 'Render a campaign or a draft for one user, V5; nothing is sent',
    body: v5PreviewBody,
    answers: { 200: v5PreviewAnswer },
    refuses: [404],
  });
  server.post(url, { schema, config: { isAnswerSecret: true } }, async (request, reply) => {
    const asked = parsePreview(readBody(request));
    const preview = await previewCampaign(deps, { ...asked, workspaceId: request.facts.workspaceId! });
    warnOfParts(deps, { request, reply, shape: v5PreviewBody });
    return presentV5(presentPreview(preview));
  });
  refuseOtherMethods(server, url, ['POST']);
}

/** Adds the PATCH; the GET route of the same address rejects its other methods. */
function addChange(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const schema = describeOperation(v5Dialect, {
    operationId: 'changeCampaign',
    summary: 'Change a draft, V5',
    params,
    body: v5ChangeBody,
    isRepeatable: true,
    answers: { 200: v5ChangeAnswer },
    refuses: [404],
  });
  server.patch(`${v5Base}/:id`, { schema }, async (request, reply) => {
    const asked = parseChange(readBody(request), { version: 'V5', requestIdHeader: requestIdHeader(deps, request) });
    const { id } = request.params as { id: string };
    await changeDraftCampaign(deps, { ...callerOf(request), ...asked, id });
    warnOfParts(deps, { request, reply, shape: v5ChangeBody });
    return presentV5({ id });
  });
}

function addValidate(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const url = `${v5Base}/:id/validate`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'validateCampaign',
    summary: 'Check whether a draft could be published now, V5',
    params,
    answers: { 200: v5ValidateAnswer },
    // The call has no body; it rejects a body that is too large and an invalid media type.
    refuses: [404, 409, 413, 415],
  });
  void server.register(async (scope) => {
    // Clients that send a content type with an empty body are accepted.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
    scope.post(url, { schema }, async (request) => {
      const { id } = request.params as { id: string };
      const faults = await validateDraftCampaign(deps, { workspaceId: request.facts.workspaceId!, id });
      const errors = faults.map(({ field, reason }) => ({
        field,
        issue: reason === 'missing' ? 'is required' : reason,
      }));
      return presentV5({ valid: errors.length === 0, errors });
    });
    refuseOtherMethods(scope, url, ['POST']);
  });
}

function addStatus(server: FastifyInstance, deps: CampaignRouteDependencies): void {
  const url = `${v5Base}/:id/status`;
  const schema = describeOperation(v5Dialect, {
    operationId: 'changeCampaignStatus',
    summary: 'Publish a draft; stop, pause or resume a campaign, V5',
    params,
    body: v5StatusBody,
    isRepeatable: true,
    answers: { 200: v5StatusAnswer },
    refuses: [404, 422],
  });
  server.patch(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const action = parseV5Status(body, requestIdHeader(deps, request));
    const { id } = request.params as { id: string };
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: v5StatusBody });
    if (action === 'PUBLISH') await publishDraftCampaign(deps, { ...callerOf(request), id });
    else await actOnCampaigns(deps, { ...callerOf(request), version: 'V5', action, ids: [id] });
    return presentV5({ id, action });
  });
  refuseOtherMethods(server, url, ['PATCH']);
}
