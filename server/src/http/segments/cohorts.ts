import { syncCohort } from '../../app/segments/cohorts.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { dataErrors, presentAccepted, presentDataError } from '../data/answers.ts';
import { dataAnswer, dataError } from '../data/shapes.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { keyCallerOf, makeRequireApiKey } from '../route/auth.ts';
import type { KeyCaller } from '../route/auth.ts';
import { addRoutes, makeRequestId, route } from '../route/route.ts';
import type { RouteDialect } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { clientNotFound, cohortBody } from './answers.ts';
import type { SegmentRouteDependencies } from './answers.ts';
import { parseCohort } from './filter-segments.ts';

/** POST /v1/integrations/cohortsync (fact 2.4): updates a partner's segment without files. */
export function cohortRoutes(deps: SegmentRouteDependencies): RouteFamily {
  const { vendorHeaders } = deps;
  return async (server) =>
    addRoutes(server, [
      route(makeCohortDialect(deps), {
        method: 'POST',
        url: '/v1/integrations/cohortsync',
        operationId: 'syncCohort',
        summary: "Add members to a partner's segment, or remove them",
        body: cohortBody,
        maxBodyBytes: maxDataBodyBytes,
        answers: { 200: dataAnswer },
        refuses: [409, 429],
        async admit({ request, workspaceId }) {
          const appKey = vendorHeaders.read(request.headers, '*-appkey');
          if (appKey !== workspaceId) throw clientNotFound(vendorHeaders, vendorHeaders.spell('SVC-APPKEY'));
        },
        read: ({ body }) => parseCohort(body),
        async handle({ input, workspaceId, actor }) {
          await syncCohort(deps, { ...input, workspaceId, actor });
          return presentAccepted({ requestId: makeRequestId() });
        },
      }),
    ]);
}

/** Makes the dialect: errors of the data family, with the scope of segments and without the data family's limits. */
function makeCohortDialect(deps: SegmentRouteDependencies): RouteDialect<KeyCaller> {
  const requireKey = makeRequireApiKey(deps, 'segmentation', {
    missing: 'DATA_CREDENTIALS_MISSING',
    invalid: 'DATA_CREDENTIALS_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
  return {
    tag: 'Segments',
    credentials: ['dataKey', 'bearer'],
    headers: { '*-APPKEY': requestHeaders.appKey },
    refusals: { errors: dataErrors, shape: dataError, codeOf: (name) => dataErrors[name]?.type },
    vendorHeaders: deps.vendorHeaders,
    onRequest: [requireKey],
    callerOf: keyCallerOf,
    presentError: presentDataError,
  };
}
