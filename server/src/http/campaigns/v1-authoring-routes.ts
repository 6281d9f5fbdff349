import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { actOnCampaigns } from '../../app/campaigns/act-on-campaigns.ts';
import { createLiveCampaign } from '../../app/campaigns/create-live-campaign.ts';
import { editCampaign } from '../../app/campaigns/edit-campaign.ts';
import { listCampaignMeta } from '../../app/campaigns/search-campaigns.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import {
  v1ChangeBody,
  v1CreateAnswer,
  v1CreateBody,
  v1MetaAnswer,
  v1StatusAnswer,
  v1StatusBody,
  v1TestAnswer,
  v1TestBody,
} from './authoring-shapes.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { parseChange, parseCreate, parseV1Status } from './parse-authoring.ts';
import { parseMeta, readBody } from './parse-search.ts';
import { parseTest } from './parse-test.ts';
import { presentMeta } from './present-meta.ts';
import { presentTestResults } from './present-test.ts';
import { v1SearchBody } from './shapes.ts';
import { operationIdOf, v1Dialect } from './v1-call.ts';
import { withUtcTimes } from './v1-times.ts';
import { callerOf, warnOfParts } from './warn-of-parts.ts';

/** Campaigns made and changed through V1 (fact 6.1), below one of its two prefixes. */
export function addV1Authoring(server: FastifyInstance, deps: CampaignRouteDependencies, base: string): void {
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
