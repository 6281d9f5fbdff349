import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { explainDelivery } from '../../app/explain/explain-delivery.ts';
import type { ExplainDependencies } from '../../app/explain/explain-delivery.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isStorableText } from '../../domain/storable-text.ts';
import type { RequestFault } from '../../domain/errors.ts';
import type { RouteFamily } from '../build-server.ts';
import { makeRequireCampaignAccess } from '../campaigns/campaign-access.ts';
import type { CampaignAccessDependencies } from '../campaigns/campaign-route-dependencies.ts';
import { presentV5, presentV5Error } from '../campaigns/present-v5.ts';
import { v5Base, v5Dialect } from '../campaigns/v5-call.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { toServiceError } from '../to-service-error.ts';
import { presentExplanation } from './present.ts';
import { explainAnswer, explainQuery } from './shapes.ts';

export type ExplainRouteDependencies = ExplainDependencies & CampaignAccessDependencies;

/** Why a user received a campaign or did not: an addition to V5, with its keys, limits and errors. */
export function explainRoutes(deps: ExplainRouteDependencies): RouteFamily {
  return async (server) => {
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler((error, request, reply) =>
      presentV5Error(toServiceError(error, request), { request, reply }),
    );
    server.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional' }));
    const url = `${v5Base}/:id/explain`;
    const schema = describeOperation(v5Dialect, {
      operationId: 'explainDelivery',
      summary: 'Explain why a user received a campaign or did not',
      params: Type.Object({ id: Type.String({ description: 'The id of the campaign' }) }),
      querystring: explainQuery,
      answers: { 200: explainAnswer },
      refuses: [404],
    });
    server.get(url, { schema, config: { isAnswerSecret: true } }, async (request) => {
      const { id: campaignId } = request.params as { id: string };
      const asked = { workspaceId: request.facts.workspaceId!, campaignId, ...parseQuery(request) };
      return presentV5(presentExplanation(await explainDelivery(deps, asked)));
    });
    refuseOtherMethods(server, url, ['GET']);
  };
}

const maxCustomerId = 512;

function parseQuery(request: FastifyRequest): { customerId: string; runId: string | undefined } {
  const query = request.query as Record<string, unknown>;
  const faults: RequestFault[] = [];
  const { customer_id: customerId, run_id: runId } = query;
  if (customerId === undefined || customerId === '') faults.push({ field: 'customer_id', reason: 'missing' });
  else if (typeof customerId !== 'string' || Buffer.byteLength(customerId) > maxCustomerId)
    faults.push({ field: 'customer_id', reason: `must be one text of at most ${maxCustomerId} bytes` });
  else if (!isStorableText(customerId))
    faults.push({ field: 'customer_id', reason: 'must be well-formed Unicode without NUL' });
  if (runId !== undefined && (typeof runId !== 'string' || !/^[0-9a-f]{24}$/.test(runId)))
    faults.push({ field: 'run_id', reason: 'must be 24 hexadecimal characters' });
  if (faults.length > 0) throw new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults });
  return { customerId: customerId as string, runId: runId as string | undefined };
}
