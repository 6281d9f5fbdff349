import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { actOnCampaigns } from '../../app/campaigns/act-on-campaigns.ts';
import {
  changeDraftCampaign,
  createDraftCampaign,
  publishDraftCampaign,
  validateDraftCampaign,
} from '../../app/campaigns/draft-campaigns.ts';
import { previewCampaign } from '../../app/campaigns/preview-campaign.ts';
import { testCampaign } from '../../app/campaigns/test-campaign.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import {
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
} from './authoring-shapes.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { parseChange, parseCreate, parseV5Status } from './parse-authoring.ts';
import { readBody } from './parse-search.ts';
import { parsePreview } from './parse-preview.ts';
import { parseTest } from './parse-test.ts';
import { presentPreview } from './present-preview.ts';
import { presentTestResults } from './present-test.ts';
import { presentV5 } from './present-v5.ts';
import { requestIdHeader, v5Base, v5Dialect } from './v5-call.ts';
import { callerOf, warnOfParts } from './warn-of-parts.ts';

const params = Type.Object({ id: Type.String({ description: 'The id of the draft or the campaign' }) });

/** Drafts of V5: made, changed, checked, published; live ones stopped, paused, resumed; tests (fact 6.1). */
export function addV5Authoring(server: FastifyInstance, deps: CampaignRouteDependencies): void {
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

/** Beside the GET of v5-routes.ts, which refuses the other methods of this address. */
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
    // It has no body, and refuses one that is too large and what is no media type.
    refuses: [404, 409, 413, 415],
  });
  void server.register(async (scope) => {
    // Clients that send an empty body with a content type mean no harm.
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
