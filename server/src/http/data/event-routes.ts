import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { eventsPerMinute } from '../../app/data/count-events.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { makeRequireApiKey } from '../auth/api-key.ts';
import { gatewayError } from '../auth/shapes.ts';
import { refuseOtherMethods } from '../refuse-other-methods.ts';
import { warnOfUnknownFields } from '../unknown-fields.ts';
import { answerLimit, checkDataWorkspace, onceOf, readDataBody } from './data-call.ts';
import { countActions, parseEvents } from './parse-event.ts';
import { presentAccepted } from './present.ts';
import type { DataRouteDependencies } from './routes.ts';
import { dataAnswer, dataError, eventBody } from './shapes.ts';

type EventRouteDependencies = Pick<DataRouteDependencies, 'data' | 'vendorHeaders'> & {
  requireKey: ReturnType<typeof makeRequireApiKey>;
};

const url = '/v1/event/:workspace_id';
const mostBodyBytes = 128 * 1024;

/** POST /v1/event/{workspace_id} (facts 5): what a user did. */
export function addEventRoute(
  server: FastifyInstance,
  { data, vendorHeaders, requireKey }: EventRouteDependencies,
): void {
  server.post(url, {
    bodyLimit: mostBodyBytes,
    schema: {
      tags: ['Data'],
      summary: 'Track what a user did',
      security: [{ dataKey: [] }, { bearer: [] }],
      params: Type.Object({ workspace_id: Type.String() }),
      body: eventBody,
      response: {
        200: dataAnswer,
        400: dataError,
        401: Type.Union([dataError, gatewayError]),
        403: gatewayError,
        409: dataError,
        413: dataError,
        415: dataError,
        429: dataError,
      },
    },
    onRequest: async (request, reply) => {
      if (request.headers['content-type'] === undefined) throw new ServiceError('MEDIA_TYPE_MISSING');
      await requireKey(request, reply);
    },
    handler: async (request, reply) => {
      checkDataWorkspace(request, (request.params as { workspace_id: string }).workspace_id);
      const workspaceId = request.facts.workspaceId!;
      // Counted before it is parsed, so that nobody is parsed without end.
      const grant = await data.countEvents(workspaceId, countActions(request.body));
      answerLimit(reply, { grant, limit: eventsPerMinute });
      const body = readDataBody(request);
      const command = parseEvents(body, vendorHeaders.prefixes);
      const answer = await data.trackEvents({ ...command, workspaceId }, onceOf(request));
      warnOfUnknownFields(vendorHeaders, body, { request, reply, shape: eventBody });
      return presentAccepted(answer);
    },
  });
  refuseOtherMethods(server, url, ['POST']);
}
