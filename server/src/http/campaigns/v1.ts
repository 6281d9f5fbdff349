import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { createLiveCampaign } from '../../app/campaigns/create-campaign.ts';
import { editCampaign } from '../../app/campaigns/edit-campaign.ts';
import { actOnCampaigns } from '../../app/campaigns/manage-campaigns.ts';
import {
  listExecutions,
  readSearchSettings,
  searchCampaigns,
  listCampaignMeta,
} from '../../app/campaigns/search-campaigns.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import { isObject } from '../../domain/request-reader.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { answerHeaders, requestHeaders } from '../openapi/shapes.ts';
import { toServiceError } from '../route/errors.ts';
import { refuseOtherMethods } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  v1ChangeBody,
  v1CreateAnswer,
  v1CreateBody,
  v1MetaAnswer,
  v1StatusAnswer,
  v1StatusBody,
  v1TestAnswer,
  v1TestBody,
  parseChange,
  parseCreate,
  parseV1Status,
} from './authoring.ts';
import { makeRequireCampaignAccess, callerOf, warnOfParts } from './call.ts';
import type { CampaignRouteDependencies } from './call.ts';
import {
  v1CampaignError,
  parsePage,
  parseSearch,
  readBody,
  v1ExecutionsAnswer,
  v1PageBody,
  v1SearchAnswer,
  v1SearchBody,
  parseMeta,
} from './search.ts';
import { parseTest, presentTestResults } from './test-and-preview.ts';
import { campaignV1Errors, presentV1Campaign, presentV1Error, presentV1Executions } from './v1-answers.ts';
import { presentMeta } from './v5-answers.ts';

/** The settings that all V1 routes share. */
export const v1Dialect: Dialect = {
  tag: 'Campaigns',
  credentials: ['campaignsKey', 'bearer'],
  headers: { '*-APPKEY': requestHeaders.appKey },
  answerHeaders: answerHeaders.deprecation,
  refusals: {
    errors: campaignV1Errors,
    shape: v1CampaignError,
    codeOf: (name) => campaignV1Errors[name]?.code,
  },
  isLimited: true,
  isDeprecated: true,
};

/** The routes with the prefix of decision D3 repeat the same operations, so their ids need a suffix. */
function operationIdOf(id: string, base: string): string {
  return base.startsWith('/core-services/') ? `${id}CoreServices` : id;
}

/** Campaigns, their search and executions, V1 (interface 4.6, fact 6.1), with and without the prefix (decision D3). */
export function campaignV1Routes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes only document the routes; the parsers in search.ts report the family's own errors.
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

/** Adds the routes that create and change campaigns through V1 (fact 6.1), under one of its two prefixes. */
function addV1Authoring(server: FastifyInstance, deps: CampaignRouteDependencies, base: string): void {
  addCreate(server, deps, base);
  addChange(server, deps, `${base}/:id`);
  addStatus(server, deps, `${base}/status`);
  addTest(server, deps, `${base}/test`);
  addMeta(server, deps, `${base}/meta`);
}

function addCreate(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('createCampaignV1', url),
    summary: 'Create a campaign that is live at once, V1',
    body: v1CreateBody,
    isRepeatable: true,
    answers: { 201: v1CreateAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const asked = parseCreate(readBody(request), { version: 'V1' });
    const parts = withUtcTimes(asked.parts, 'UTC');
    const { id } = await createLiveCampaign(deps, { ...callerOf(request), ...asked, parts });
    warnOfParts(deps, { request, reply, shape: v1CreateBody });
    return reply.code(201).send({ campaign_id: id });
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addChange(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('changeCampaignV1', url),
    summary: 'Change a campaign, or publish a draft, V1',
    params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
    body: v1ChangeBody,
    isRepeatable: true,
    answers: { 204: Type.Null() },
    refuses: [404, 422],
  });
  server.patch(url, { schema }, async (request, reply) => {
    const { change, updatedBy } = parseChange(readBody(request), { version: 'V1' });
    const { id } = request.params as { id: string };
    await editCampaign(deps, {
      ...callerOf(request),
      id,
      change: withUtcTimes(change, 'its own'),
      updatedBy: updatedBy!,
    });
    warnOfParts(deps, { request, reply, shape: v1ChangeBody });
    return reply.code(204).send();
  });
  refuseOtherMethods(server, url, ['PATCH']);
}

function addStatus(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('changeCampaignStatusV1', url),
    summary: 'Stop, pause or resume campaigns, V1',
    body: v1StatusBody,
    isRepeatable: true,
    answers: { 200: v1StatusAnswer },
    refuses: [404, 422],
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const asked = parseV1Status(body);
    await actOnCampaigns(deps, { ...callerOf(request), ...asked, version: 'V1' });
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: v1StatusBody });
    return {};
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addTest(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('testCampaignV1', url),
    summary: 'Send a test of a campaign to named users, V1',
    body: v1TestBody,
    isRepeatable: true,
    answers: { 200: v1TestAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const asked = parseTest(readBody(request), { version: 'V1' });
    const { results } = await testCampaign(deps, { ...callerOf(request), ...asked });
    warnOfParts(deps, { request, reply, shape: v1TestBody });
    return { data: presentTestResults(results), message: 'Test campaign created successfully' };
  });
  refuseOtherMethods(server, url, ['POST']);
}

function addMeta(server: FastifyInstance, deps: CampaignRouteDependencies, url: string): void {
  const schema = describeOperation(v1Dialect, {
    operationId: operationIdOf('listCampaignMetaV1', url),
    summary: 'List campaigns in short, V1',
    body: v1SearchBody,
    answers: { 200: v1MetaAnswer },
  });
  server.post(url, { schema }, async (request, reply) => {
    const body = readBody(request);
    const dialect = { version: 'V1', versioning: 'off' } as const;
    const asked = parseMeta(body, dialect);
    warnOfUnknownFields(deps.vendorHeaders, body, { request, reply, shape: v1SearchBody });
    const workspaceId = request.facts.workspaceId!;
    return (await listCampaignMeta(deps, { ...asked, ...dialect, workspaceId })).map(presentMeta);
  });
  refuseOtherMethods(server, url, ['POST']);
}

const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/;

/**
 * Appends the UTC offset to V1's times: they are in UTC (fact 6.2), while those of a stored campaign are in its zone. A
 * campaign created through V1 has the zone UTC; one changed through V1 keeps its own.
 */
function withUtcTimes(parts: CampaignParts, zone: 'UTC' | 'its own'): CampaignParts {
  const details = parts.scheduling_details;
  if (!isObject(details)) return parts;
  const { timezone: _unknown, ...rest } = details;
  const times = ['start_time', 'expiry_time'].flatMap((name) => {
    const sent = rest[name];
    return typeof sent === 'string' && sent !== '' && !hasOffset.test(sent) ? [[name, `${sent}Z`]] : [];
  });
  const zoned = zone === 'UTC' ? { timezone: 'UTC' } : {};
  return { ...parts, scheduling_details: { ...rest, ...Object.fromEntries(times), ...zoned } };
}

const guideUrl = '/docs/migration-v1-v5.md';

/** 2026-01-01T00:00:00Z, the year of the first release: V1 only ever existed for existing clients. */
const deprecatedAtSeconds = 1_767_225_600;

/**
 * Announces that V1 is deprecated (RFC 9745) and links to the guide for V5 (RFC 9745 §3). Sends no Sunset (RFC 8594),
 * because no end of V1 is planned.
 */
function announceDeprecation(reply: FastifyReply): void {
  reply.header('deprecation', `@${deprecatedAtSeconds}`);
  reply.header('link', `<${guideUrl}>; rel="deprecation"; type="text/markdown"`);
}

/** Serves the guide at the address in the header. */
export function migrationGuideRoute(server: FastifyInstance, file: string): void {
  server.get(guideUrl, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/markdown; charset=utf-8').send(await readFile(file, 'utf8')),
  );
}
