import { syncCohort } from '../../app/segments/cohorts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { dataErrors, presentAccepted, presentDataError } from '../data/answers.ts';
import { dataAnswer, dataError } from '../data/shapes.ts';
import { describeOperation } from '../openapi/operation.ts';
import type { Dialect } from '../openapi/operation.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { actorOf, makeRequireApiKey } from '../route/auth.ts';
import { toServiceError } from '../route/errors.ts';
import { refuseOtherMethods, makeRequestId } from '../route/route.ts';
import { warnOfUnknownFields } from '../route/warnings.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { clientNotFound, cohortBody } from './answers.ts';
import type { SegmentRouteDependencies } from './answers.ts';
import { parseCohort } from './filter-segments.ts';

const url = '/v1/integrations/cohortsync';

const dialect: Dialect = {
  tag: 'Segments',
  credentials: ['dataKey', 'bearer'],
  headers: { '*-APPKEY': requestHeaders.appKey },
  refusals: { errors: dataErrors, shape: dataError, codeOf: (name) => dataErrors[name]?.type },
};

/** POST /v1/integrations/cohortsync (fact 2.4): updates a partner's segment without files. */
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
      schema: describeOperation(dialect, {
        operationId: 'syncCohort',
        summary: "Add members to a partner's segment, or remove them",
        body: cohortBody,
        answers: { 200: dataAnswer },
        refuses: [409, 429],
      }),
      onRequest: requireKey,
      handler: async (request, reply) => {
        const workspaceId = request.facts.workspaceId!;
        const appKey = vendorHeaders.read(request.headers, '*-appkey');
        if (appKey !== workspaceId) throw clientNotFound(vendorHeaders, vendorHeaders.spell('SVC-APPKEY'));
        const { body } = request;
        if (body === undefined) throw new ServiceError('BODY_EMPTY');
        if (body === null || typeof body !== 'object' || Array.isArray(body)) throw new ServiceError('BODY_MALFORMED');
        const command = parseCohort(body as Record<string, unknown>);
        await syncCohort(deps, { ...command, workspaceId, actor: actorOf(request) });
        warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: cohortBody });
        return presentAccepted({ requestId: makeRequestId() });
      },
    });
    refuseOtherMethods(server, url, ['POST']);
  };
}
