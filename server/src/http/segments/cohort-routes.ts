import { Type } from 'typebox';
import { syncCohort } from '../../app/segments/sync-cohort.ts';
import { ServiceError } from '../../domain/errors.ts';
import { makeRequireApiKey } from '../auth/api-key.ts';
import { gatewayError } from '../auth/shapes.ts';
import type { RouteFamily } from '../build-server.ts';
import { presentAccepted, presentDataError } from '../data/present.ts';
import { dataAnswer, dataError } from '../data/shapes.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { makeRequestId } from '../request-id.ts';
import { toServiceError } from '../to-service-error.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { parseCohort } from './parse-filter-segment.ts';
import type { SegmentRouteDependencies } from './segment-route-dependencies.ts';
import { cohortBody } from './shapes.ts';
import { maxDataBodyBytes } from '../../domain/users/limits.ts';

const url = '/v1/integrations/cohortsync';

/** POST /v1/integrations/cohortsync (fact 2.4): a partner's segment, kept in step without files. */
export function cohortRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const { vendorHeaders } = deps;
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentDataError(toServiceError(error, request), { request, reply }),
    );
    server.post(url, {
      bodyLimit: maxDataBodyBytes,
      schema: {
        tags: ['Segments'],
        summary: "Add members to a partner's segment, or remove them",
        security: [{ dataKey: [] }, { bearer: [] }],
        body: cohortBody,
        response: {
          200: dataAnswer,
          400: dataError,
          401: Type.Union([dataError, gatewayError]),
          403: gatewayError,
          409: dataError,
          429: dataError,
        },
      },
      onRequest: requireKey,
      handler: async (request, reply) => {
        const workspaceId = request.facts.workspaceId!;
        const appKey = vendorHeaders.read(request.headers, '*-appkey');
        if (appKey !== workspaceId) throw new ServiceError('SEGMENT_CLIENT_NOT_FOUND', { detail: 'SVC-APPKEY' });
        const { body } = request;
        if (body === undefined) throw new ServiceError('BODY_EMPTY');
        if (body === null || typeof body !== 'object' || Array.isArray(body)) throw new ServiceError('BODY_MALFORMED');
        const command = parseCohort(body as Record<string, unknown>);
        await syncCohort(deps, { ...command, workspaceId, requestedBy: request.callerKey!.name });
        warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: cohortBody });
        return presentAccepted({ requestId: makeRequestId() });
      },
    });
    refuseOtherMethods(server, url, ['POST']);
  };
}
