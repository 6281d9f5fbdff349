import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import {
  changeDraftCampaign,
  createDraftCampaign,
  createLiveCampaign,
  publishDraftCampaign,
  validateDraftCampaign,
} from '../../app/campaigns/create-campaign.ts';
import { editCampaign } from '../../app/campaigns/edit-campaign.ts';
import { actOnCampaigns } from '../../app/campaigns/change-campaign-state.ts';
import { previewCampaign } from '../../app/campaigns/preview-campaign.ts';
import {
  getCampaign,
  listCampaignMeta,
  listExecutions,
  readSearchSettings,
  searchCampaigns,
} from '../../app/campaigns/search-campaigns.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import type { TestAnswer } from '../../app/campaigns/test-campaign.ts';
import { readCampaign } from '../../domain/campaign-document/campaign.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, route } from '../route/route.ts';
import type { Body, Route, RouteDialect } from '../route/route.ts';
import { addWarnings } from '../route/warnings.ts';
import type { AnsweredCall } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import {
  parseChange,
  parseCreate,
  parseV1Status,
  parseV5Status,
  takeParts,
  v1ChangeBody,
  v1CreateAnswer,
  v1CreateBody,
  v1MetaAnswer,
  v1StatusAnswer,
  v1StatusBody,
  v5ChangeAnswer,
  v5ChangeBody,
  v5CreateAnswer,
  v5CreateBody,
  v5MetaAnswer,
  v5StatusAnswer,
  v5StatusBody,
  v5ValidateAnswer,
  withUtcTimes,
} from './authoring.ts';
import { callerOf, makeV1Dialect, makeV5Dialect, migrationGuideUrl, v5Base } from './dialects.ts';
import type { CampaignRouteDependencies, V5Caller } from './dialects.ts';
import {
  parseMeta,
  parsePage,
  parseSearch,
  v1ExecutionsAnswer,
  v1PageBody,
  v1SearchAnswer,
  v1SearchBody,
  v5CampaignAnswer,
  v5ExecutionsAnswer,
  v5MetaBody,
  v5PageBody,
  v5SearchAnswer,
  v5SearchBody,
  v5SearchBodyWithoutVersions,
} from './search.ts';
import {
  parsePreview,
  parseTest,
  presentPreview,
  presentTestResults,
  v1TestAnswer,
  v1TestBody,
  v5PreviewAnswer,
  v5PreviewBody,
  v5TestAnswer,
  v5TestBody,
} from './test-and-preview.ts';
import { presentV1Campaign, presentV1Executions } from './v1-answers.ts';
import { presentMeta, presentV5, presentV5Campaign, presentV5Executions, presentV5Meta } from './v5-answers.ts';
import { winnerRoutes } from './winner.ts';

/**
 * Every operation of campaigns: V1 (fact 6.1) with and without the prefix of decision D3, and V5 (interface 4.6,
 * decision D42, D43).
 */
export function campaignRoutes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    server.get(migrationGuideUrl, { schema: { hide: true } }, async (_request, reply) =>
      reply.type('text/markdown; charset=utf-8').send(await readFile(deps.migrationGuideFile, 'utf8')),
    );
    const v1 = makeV1Dialect(deps);
    const v5 = makeV5Dialect(deps);
    await addRoutes(server, [
      ...(['', '/core-services'] as const).flatMap((prefix) => [
        ...v1AuthoringRoutes(deps, { v1, prefix }),
        ...v1SearchRoutes(deps, { v1, prefix }),
      ]),
      ...v5AuthoringRoutes(deps, v5),
      ...v5ChangeRoutes(deps, v5),
      ...v5SearchRoutes(deps, v5),
      validateRoute(deps, v5),
      ...winnerRoutes(deps, v5),
    ]);
  };
}

type V1 = { v1: RouteDialect<KeyCaller>; prefix: '' | '/core-services' };

/** Returns the members of an operation that depend on the prefix: the ids of operations are unique. */
function v1Address(prefix: V1['prefix'], { path, operationId }: { path: string; operationId: string }) {
  return {
    url: `${prefix}/v1/campaigns${path}`,
    operationId: prefix === '' ? operationId : `${operationId}CoreServices`,
  };
}

/** Returns the unknown members of the parts, which the domain reads. */
const findUnknownParts = ({ body }: { body: Body }): string[] => readCampaign(takeParts(body)).unknownFields;

function v1AuthoringRoutes(deps: CampaignRouteDependencies, { v1, prefix }: V1): Route[] {
  return [
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '', operationId: 'createCampaignV1' }),
      summary: 'Create a campaign that is live at once, V1',
      body: v1CreateBody,
      isRepeatable: true,
      answers: { 201: v1CreateAnswer },
      read: ({ body }) => parseCreate(body, { version: 'V1' }),
      async handle(call) {
        const parts = withUtcTimes(call.input.parts, 'UTC');
        const { id } = await createLiveCampaign(deps, { ...callerOf(call), ...call.input, parts });
        return { campaign_id: id };
      },
      findUnknown: findUnknownParts,
    }),
    route(v1, {
      method: 'PATCH',
      ...v1Address(prefix, { path: '/:id', operationId: 'changeCampaignV1' }),
      summary: 'Change a campaign, or publish a draft, V1',
      params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
      body: v1ChangeBody,
      isRepeatable: true,
      answers: { 204: Type.Null() },
      refuses: [404, 422],
      read: ({ body }) => parseChange(body, { version: 'V1' }),
      async handle(call) {
        const { change: sent, updatedBy } = call.input;
        const change = withUtcTimes(sent, 'its own');
        await editCampaign(deps, { ...callerOf(call), ...call.params, change, updatedBy: updatedBy! });
      },
      findUnknown: findUnknownParts,
    }),
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '/status', operationId: 'changeCampaignStatusV1' }),
      summary: 'Stop, pause or resume campaigns, V1',
      body: v1StatusBody,
      isRepeatable: true,
      answers: { 200: v1StatusAnswer },
      refuses: [404, 422],
      read: ({ body }) => parseV1Status(body),
      async handle(call) {
        await actOnCampaigns(deps, { ...callerOf(call), ...call.input, version: 'V1' });
        return {};
      },
    }),
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '/test', operationId: 'testCampaignV1' }),
      summary: 'Send a test of a campaign to named users, V1',
      body: v1TestBody,
      isRepeatable: true,
      answers: { 200: v1TestAnswer },
      read: ({ body }) => parseTest(body, { version: 'V1' }),
      async handle(call) {
        const { results, ...ignored } = await testCampaign(deps, { ...callerOf(call), ...call.input });
        warnOfIgnored(deps, { call, ...ignored });
        return { data: presentTestResults(results), message: 'Test campaign created successfully' };
      },
      findUnknown: findUnknownParts,
    }),
  ];
}

/** A test is a push to the users that it names, also to those who are not in the topic. */
function warnOfIgnored(
  { vendorHeaders }: CampaignRouteDependencies,
  { call, ignoredTopic, isInboxIgnored }: { call: AnsweredCall } & Omit<TestAnswer, 'campaignId' | 'results'>,
): void {
  const warnings = [
    ...(ignoredTopic === undefined ? [] : ['advanced.topic has no effect in a test']),
    ...(isInboxIgnored ? ['advanced.inbox has no effect in a test, which is a push'] : []),
  ];
  if (warnings.length > 0) addWarnings(vendorHeaders, call, warnings);
}

const v1Search = { version: 'V1', versioning: 'off' } as const;

function v1SearchRoutes(deps: CampaignRouteDependencies, { v1, prefix }: V1): Route[] {
  return [
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '/meta', operationId: 'listCampaignMetaV1' }),
      summary: 'List campaigns in short, V1',
      body: v1SearchBody,
      answers: { 200: v1MetaAnswer },
      read: ({ body }) => parseMeta(body, v1Search),
      async handle({ input, workspaceId, warn }) {
        warn();
        return (await listCampaignMeta(deps, { ...input, ...v1Search, workspaceId })).map(presentMeta);
      },
    }),
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '/search', operationId: 'searchCampaignsV1' }),
      summary: 'Search campaigns, or find one by its id, V1',
      body: v1SearchBody,
      answers: { 200: v1SearchAnswer },
      answerHeaders: { 'X-Total-Count': Type.Integer({ description: 'With a list: how many there are' }) },
      read: ({ body }) => parseSearch(body, v1Search),
      async handle({ input, workspaceId, reply, warn }) {
        warn();
        const { v1Answer } = await readSearchSettings(deps, workspaceId);
        const found = await searchCampaigns(deps, { ...input, ...v1Search, workspaceId });
        const campaigns = found.campaigns.map(presentV1Campaign);
        if (v1Answer !== 'array') return { total_count: found.totalCount, campaigns };
        // Decision D41.
        reply.header('x-total-count', String(found.totalCount));
        return campaigns;
      },
    }),
    route(v1, {
      method: 'POST',
      ...v1Address(prefix, { path: '/:parent_id/executions', operationId: 'listExecutionsV1' }),
      summary: 'List the child campaigns of a recurring campaign, V1',
      params: Type.Object({ parent_id: Type.String({ description: 'The id of the recurring campaign' }) }),
      body: v1PageBody,
      answers: { 200: v1ExecutionsAnswer },
      refuses: [404, 422],
      read: ({ body }) => parsePage(body, v1Search),
      async handle({ input, workspaceId, params: { parent_id: parentId }, warn }) {
        warn();
        return presentV1Executions(await listExecutions(deps, { ...input, workspaceId, parentId }));
      },
    }),
  ];
}

const params = Type.Object({ id: Type.String({ description: 'The id of the draft or the campaign' }) });

function v5AuthoringRoutes(deps: CampaignRouteDependencies, v5: RouteDialect<V5Caller>): Route[] {
  return [
    route(v5, {
      method: 'POST',
      url: v5Base,
      operationId: 'createCampaign',
      summary: 'Create a draft of a campaign, V5',
      body: v5CreateBody,
      isRepeatable: true,
      answers: { 201: v5CreateAnswer },
      read: ({ body, form }) => parseCreate(body, form),
      async handle(call) {
        const { id } = await createDraftCampaign(deps, { ...callerOf(call), ...call.input });
        return presentV5({ id, status: 'DRAFT' as const });
      },
      findUnknown: findUnknownParts,
    }),
    route(v5, {
      method: 'POST',
      url: `${v5Base}/test`,
      operationId: 'testCampaign',
      summary: 'Send a test of a campaign to named users, V5',
      body: v5TestBody,
      isRepeatable: true,
      answers: { 200: v5TestAnswer },
      refuses: [404],
      read: ({ body, form }) => parseTest(body, form),
      async handle(call) {
        const { results, ...ignored } = await testCampaign(deps, {
          ...{ ...callerOf(call), ...call.input },
          requestId: undefined,
        });
        warnOfIgnored(deps, { call, ...ignored });
        return presentV5(presentTestResults(results));
      },
      findUnknown: findUnknownParts,
    }),
    route(v5, {
      method: 'POST',
      url: `${v5Base}/preview`,
      operationId: 'previewCampaign',
      summary: 'Render a campaign or a draft for one user, V5; nothing is sent',
      body: v5PreviewBody,
      answers: { 200: v5PreviewAnswer },
      refuses: [404],
      config: { isAnswerSecret: true },
      read: ({ body }) => parsePreview(body),
      async handle({ input, workspaceId }) {
        return presentV5(presentPreview(await previewCampaign(deps, { ...input, workspaceId })));
      },
      findUnknown: findUnknownParts,
    }),
  ];
}

function v5ChangeRoutes(deps: CampaignRouteDependencies, v5: RouteDialect<V5Caller>): Route[] {
  return [
    route(v5, {
      method: 'PATCH',
      url: `${v5Base}/:id`,
      operationId: 'changeCampaign',
      summary: 'Change a draft, V5',
      params,
      body: v5ChangeBody,
      isRepeatable: true,
      answers: { 200: v5ChangeAnswer },
      refuses: [404],
      read: ({ body, form }) => parseChange(body, form),
      async handle(call) {
        const { id } = call.params;
        await changeDraftCampaign(deps, { ...callerOf(call), ...call.input, id });
        return presentV5({ id });
      },
      findUnknown: findUnknownParts,
    }),
    route(v5, {
      method: 'PATCH',
      url: `${v5Base}/:id/status`,
      operationId: 'changeCampaignStatus',
      summary: 'Publish a draft; stop, pause or resume a campaign, V5',
      params,
      body: v5StatusBody,
      isRepeatable: true,
      answers: { 200: v5StatusAnswer },
      refuses: [404, 422],
      read: ({ body, form }) => parseV5Status(body, form.requestIdHeader),
      async handle(call) {
        const {
          input: action,
          params: { id },
        } = call;
        call.warn();
        if (action === 'PUBLISH') await publishDraftCampaign(deps, { ...callerOf(call), id });
        else await actOnCampaigns(deps, { ...callerOf(call), version: 'V5', action, ids: [id] });
        return presentV5({ id, action });
      },
    }),
  ];
}

function v5SearchRoutes(deps: CampaignRouteDependencies, v5: RouteDialect<V5Caller>): Route[] {
  return [
    route(v5, {
      method: 'POST',
      url: `${v5Base}/search`,
      operationId: 'searchCampaigns',
      summary: 'Search campaigns, V5',
      body: v5SearchBody,
      answers: { 200: v5SearchAnswer },
      async read({ body, form, workspaceId }) {
        const { versioning } = await readSearchSettings(deps, workspaceId);
        return { ...parseSearch(body, { ...form, versioning }), version: form.version, versioning };
      },
      shapeOf: ({ versioning }) => (versioning === 'on' ? v5SearchBody : v5SearchBodyWithoutVersions),
      async handle({ input, workspaceId, warn }) {
        warn();
        const { campaigns } = await searchCampaigns(deps, { ...input, workspaceId });
        return presentV5({ campaigns: campaigns.map((campaign) => presentV5Campaign(campaign, input.versioning)) });
      },
    }),
    route(v5, {
      method: 'POST',
      url: `${v5Base}/meta`,
      operationId: 'listCampaignMeta',
      summary: 'List campaigns in short, V5',
      body: v5MetaBody,
      answers: { 200: v5MetaAnswer },
      async read({ body, form, workspaceId }) {
        const { versioning } = await readSearchSettings(deps, workspaceId);
        return { ...parseMeta(body, { ...form, versioning }), version: form.version, versioning };
      },
      async handle({ input, workspaceId, warn }) {
        warn();
        const listed = await listCampaignMeta(deps, { ...input, workspaceId });
        return presentV5({ campaigns: listed.map((one) => presentV5Meta(one, input.versioning)) });
      },
    }),
    route(v5, {
      method: 'GET',
      url: `${v5Base}/:id`,
      operationId: 'getCampaign',
      summary: 'Get a campaign, V5',
      params: Type.Object({ id: Type.String({ description: 'The id of the campaign or of one of its versions' }) }),
      answers: { 200: v5CampaignAnswer },
      refuses: [404],
      async handle({ workspaceId, params: { id } }) {
        const { versioning } = await readSearchSettings(deps, workspaceId);
        return presentV5(presentV5Campaign(await getCampaign(deps, { workspaceId, id }), versioning));
      },
    }),
    route(v5, {
      method: 'POST',
      url: `${v5Base}/:parent_campaign_id/executions`,
      operationId: 'listExecutions',
      summary: 'List the child campaigns of a recurring campaign, V5',
      params: Type.Object({ parent_campaign_id: Type.String({ description: 'The id of the recurring campaign' }) }),
      body: v5PageBody,
      answers: { 200: v5ExecutionsAnswer },
      refuses: [404, 422],
      read: ({ body, form }) => parsePage(body, { ...form, versioning: 'off' }),
      async handle({ input, workspaceId, params: { parent_campaign_id: parentId }, warn }) {
        warn();
        return presentV5Executions(await listExecutions(deps, { ...input, workspaceId, parentId }));
      },
    }),
  ];
}

function validateRoute(deps: CampaignRouteDependencies, v5: RouteDialect<V5Caller>): Route {
  return route(v5, {
    method: 'POST',
    url: `${v5Base}/:id/validate`,
    operationId: 'validateCampaign',
    summary: 'Check whether a draft could be published now, V5',
    params,
    answers: { 200: v5ValidateAnswer },
    // The call has no body; it rejects a body that is too large and an invalid media type.
    refuses: [404, 409, 413, 415],
    // Clients that send a content type with an empty body are accepted.
    isBodyIgnored: true,
    async handle({ workspaceId, params: { id } }) {
      const faults = await validateDraftCampaign(deps, { workspaceId, id });
      const errors = faults.map(({ field, reason }) => ({
        field,
        issue: reason === 'missing' ? 'is required' : reason,
      }));
      return presentV5({ valid: errors.length === 0, errors });
    },
  });
}
