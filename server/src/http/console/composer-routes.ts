import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { AuthoringDependencies } from '../../app/campaigns/authoring-dependencies.ts';
import {
  changeComposed,
  checkComposed,
  countComposed,
  createComposed,
  publishComposed,
  readComposerResources,
  testComposed,
} from '../../app/console/console-composer.ts';
import { takeParts } from '../campaigns/parse-authoring.ts';
import { readBody } from '../campaigns/parse-search.ts';
import { parseTest } from '../campaigns/parse-test.ts';
import { presentTestResults } from '../campaigns/present-test.ts';
import { presentV5Error } from '../campaigns/present-v5.ts';
import { presentDefaultError } from '../present-default-error.ts';
import { toServiceError } from '../to-service-error.ts';
import { consoleApi as api } from './console-access.ts';
import { presentCheck, presentCount, presentResources } from './present-composer.ts';
import { ChangedCampaign } from './campaign-shapes.ts';
import { AudienceCount, CampaignCheck, ComposerResources, TestResults } from './composer-shapes.ts';

export type ConsoleComposerRouteDependencies = { composer: AuthoringDependencies };

const workspaceId = Type.String({ maxLength: 64 });
const id = Type.String({ pattern: '^[0-9a-f]{24}$' });
const Workspace = Type.Object({ workspaceId });
const Checked = Type.Object({ workspaceId, id: Type.Optional(id) });
const Id = Type.Object({ id });

/**
 * Campaigns as they are written in the console. Bodies are those of V5 without `created_by` and `updated_by`, which are
 * the signed-in user; faults have the shape of V5.
 */
export function consoleComposerRoutes(server: FastifyInstance, { composer }: ConsoleComposerRouteDependencies): void {
  const schema = { hide: true, querystring: Workspace };
  const config = { permission: 'campaigns.write' as const };
  const answering = (shape: TSchema) => ({ schema: { ...schema, response: { 200: shape } }, config });
  const one = { schema: { ...schema, params: Id, response: { 200: ChangedCampaign } }, config };

  void server.register(async (scope) => {
    scope.setErrorHandler((thrown, request, reply) => {
      const error = toServiceError(thrown, request);
      // A form shows every fault at its field.
      if (error.code === 'CAMPAIGN_REQUEST_INVALID') return presentV5Error(error, { request, reply });
      return presentDefaultError(error, reply);
    });

    scope.get(`${api}/composer`, answering(ComposerResources), async (request) =>
      presentResources(await readComposerResources(composer, workspaceOf(request))),
    );
    const checking = { schema: { hide: true, querystring: Checked, response: { 200: CampaignCheck } }, config };
    scope.post(`${api}/composer/check`, checking, async (request) => {
      const asked = request.query as Static<typeof Checked>;
      return presentCheck(await checkComposed(composer, { id: undefined, ...asked, parts: partsOf(request) }));
    });
    scope.post(`${api}/composer/audience`, answering(AudienceCount), async (request) =>
      presentCount(await countComposed(composer, { workspaceId: workspaceOf(request), parts: partsOf(request) })),
    );
    scope.post(`${api}/composer/test`, answering(Type.Object({ results: TestResults })), async (request) => {
      const asked = parseTest(readBody(request), { version: 'V5' });
      const results = await testComposed(composer, {
        ...asked,
        workspaceId: workspaceOf(request),
        by: request.signedIn,
      });
      return { results: presentTestResults(results) };
    });
    const creating = { schema: { ...schema, response: { 201: ChangedCampaign } }, config };
    scope.post(`${api}/campaigns`, creating, async (request, reply) => {
      const asked = { workspaceId: workspaceOf(request), parts: partsOf(request), by: request.signedIn };
      return reply.code(201).send(await createComposed(composer, asked));
    });
    scope.patch(`${api}/campaigns/:id`, one, (request) =>
      changeComposed(composer, { ...keyOf(request), parts: partsOf(request), by: request.signedIn }),
    );
    scope.post(`${api}/campaigns/:id/publish`, one, (request) =>
      publishComposed(composer, { ...keyOf(request), by: request.signedIn }),
    );
  });
}

function partsOf(request: FastifyRequest) {
  return takeParts(readBody(request));
}

function workspaceOf(request: FastifyRequest): string {
  return (request.query as Static<typeof Workspace>).workspaceId;
}

function keyOf(request: FastifyRequest): { workspaceId: string; id: string } {
  return { workspaceId: workspaceOf(request), id: (request.params as Static<typeof Id>).id };
}
