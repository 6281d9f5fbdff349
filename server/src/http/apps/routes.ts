import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { findWorkspaceApp, listWorkspaceApps, putApp, removeApp } from '../../app/apps/manage-apps.ts';
import type { AppDependencies } from '../../app/apps/manage-apps.ts';
import { ServiceError } from '../../domain/errors.ts';
import { platforms } from '../../domain/campaigns/content.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import type { BearerDependencies } from '../auth/bearer.ts';
import type { RouteFamily } from '../build-server.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { problemRefusals } from '../openapi/problem.ts';
import { readOwnBody } from '../own-body.ts';
import { makeRequireOwnKey, presentOwnErrors } from '../own-routes.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { parseApp } from './parse-app.ts';
import { presentApp } from './present.ts';
import { appAnswer, appBody, appParameters, appQuery, appsAnswer } from './shapes.ts';

export type AppRouteDependencies = AppDependencies & BearerDependencies & { vendorHeaders: VendorHeaders };

const url = '/v1/apps';
const dialect: Dialect = {
  tag: 'Apps',
  credentials: ['dataKey', 'bearer'],
  refusals: problemRefusals(['NOT_FOUND', 'SCOPE_MISSING']),
};

/** The apps of a workspace, for whoever registers their devices: with the key of data. */
export function appRoutes(deps: AppRouteDependencies): RouteFamily {
  const onRequest = makeRequireOwnKey(deps, 'data');
  return async (server) => {
    presentOwnErrors(server);
    const list = describeOperation(dialect, {
      operationId: 'listApps',
      summary: 'List the apps of the workspace',
      answers: { 200: appsAnswer },
    });
    server.get(url, { schema: list, onRequest }, async (request) => {
      const apps = await listWorkspaceApps(deps.database, request.facts.workspaceId!);
      return { apps: apps.map(presentApp) };
    });
    refuseOtherMethods(server, url, ['GET']);

    const one = { params: appParameters, refuses: [404] };
    const read = describeOperation(dialect, {
      ...{ operationId: 'readApp', summary: 'Read an app', querystring: appQuery },
      ...{ ...one, answers: { 200: appAnswer } },
    });
    server.get(`${url}/:app`, { schema: read, onRequest }, async (request) =>
      presentApp(await findWorkspaceApp(deps.database, namedIn(request))),
    );
    const put = describeOperation(dialect, {
      operationId: 'putApp',
      summary: 'Add an app, or replace what may change of it',
      description: 'What is left out is as the workspace says. Identifier and environment stand.',
      ...{ ...one, body: appBody, answers: { 200: appAnswer, 201: appAnswer } },
    });
    server.put(`${url}/:app`, { schema: put, onRequest }, async (request, reply) => {
      const { workspaceId, appId } = namedIn(request);
      const app = parseApp(readOwnBody(request), appId);
      const by = { id: null, name: request.callerKey!.name };
      const { isNew } = await putApp(deps, { ...app, by, workspaceId });
      warnOfUnknownFields(deps.vendorHeaders, request.body, { request, reply, shape: appBody });
      const shown = await findWorkspaceApp(deps.database, { workspaceId, appId, platform: app.platform });
      return reply.code(isNew ? 201 : 200).send(presentApp(shown));
    });
    const remove = describeOperation(dialect, {
      operationId: 'removeApp',
      summary: 'Remove an app that has neither credential nor devices',
      ...{ querystring: appQuery, ...one, answers: { 204: Type.Null() }, refuses: [404, 413, 415] },
    });
    server.delete(`${url}/:app`, { schema: remove, onRequest }, async (request, reply) => {
      const { platform } = await findWorkspaceApp(deps.database, namedIn(request));
      const { workspaceId, appId } = namedIn(request);
      await removeApp(deps, { by: { id: null, name: request.callerKey!.name }, workspaceId, appId, platform });
      return reply.code(204).send();
    });
    refuseOtherMethods(server, `${url}/:app`, ['GET', 'PUT', 'DELETE']);
  };
}

function namedIn(request: FastifyRequest): { workspaceId: string; appId: string; platform: Platform | undefined } {
  const { app: appId } = request.params as { app: string };
  const { platform } = request.query as { platform?: unknown };
  if (platform !== undefined && !platforms.includes(platform as Platform))
    throw new ServiceError('PARAMETER_INVALID', { field: 'platform', reason: `must be ${platforms.join(', ')}` });
  return { workspaceId: request.facts.workspaceId!, appId, platform: platform as Platform | undefined };
}
