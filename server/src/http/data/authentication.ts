import type { FastifyRequest } from 'fastify';
import { countDataCall, testConnection } from '../../app/data.ts';
import { authenticateKey } from '../../app/keys/authenticate-key.ts';
import { opensAsPassword } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import { maxDataBodyBytes } from '../../domain/limits/users.ts';
import { requiredText, text } from '../../fields/combinators.ts';
import { reading, schemaOf } from '../../fields/field.ts';
import { requestHeaders } from '../openapi/shapes.ts';
import { route } from '../route/route.ts';
import type { Body, Call, Route } from '../route/route.ts';
import { authenticationAnswer } from './answers.ts';
import { makeDataDialect, requireMediaType, setLimitHeaders } from './call.ts';
import type { DataRouteDependencies } from './call.ts';
import { readData } from './parse-data.ts';
import { calledDataCenter } from '../server/call-origin.ts';

const operation = 'data-authentication';

const members = {
  app_id: requiredText(),
  app_secret: requiredText(),
  source: text({ description: "The caller's name, stored in the API log" }),
  region: text({ description: "The workspace's data center, such as 01 or dc_01" }),
};

const authenticationBody = schemaOf(members, { title: 'ConnectionTestRequest' });

/** POST /v1/integrations/authentication (fact 5): checks a partner's credentials, which are sent in the body. */
export function authenticationRoute(deps: DataRouteDependencies): Route {
  const dialect = {
    ...makeDataDialect(deps),
    // The credentials are in the body; the gateway rejects calls that they do not cover.
    credentials: [],
    onRequest: [requireMediaType],
    callerOf: () => ({}),
  };
  return route(dialect, {
    method: 'POST',
    url: '/v1/integrations/authentication',
    operationId: 'testConnection',
    summary: 'Test the credentials of an integration',
    headers: { '*-APPKEY': requestHeaders.appKey },
    body: authenticationBody,
    answers: { 200: authenticationAnswer },
    refuses: [401, 403, 409],
    maxBodyBytes: maxDataBodyBytes,
    config: { dataOperation: operation, isBodySecret: true },
    async handle({ body, request, reply }) {
      const { workspaceId } = await authenticate(deps, { body, request });
      setLimitHeaders(reply, await countDataCall(deps, { workspaceId, uses: [{ operation, wanted: 1 }] }));
      const { source, region } = readOrigin(body);
      if (source !== undefined) request.facts.errorDetail = `connection test of ${source}`;
      const { name } = await testConnection(deps, { workspaceId, region });
      return { status: 'success', app_name: name };
    },
  });
}

async function authenticate(deps: DataRouteDependencies, { body, request }: Pick<Call, 'body' | 'request'>) {
  const { vendorHeaders } = deps;
  const workspaceId = readData(body, (sent) => reading(sent, members)('app_id'));
  const appKey = vendorHeaders.read(request.headers, '*-appkey');
  if (appKey === undefined)
    throw new ServiceError('DATA_HEADER_MISSING', { field: vendorHeaders.nameOf('*-appkey').toUpperCase() });
  if (appKey !== workspaceId) throw new ServiceError('DATA_WORKSPACE_MISMATCH');
  const secret = readData(body, (sent) => reading(sent, members)('app_secret'));
  return findKey(deps, request, { workspaceId, secret });
}

async function findKey(
  deps: DataRouteDependencies,
  request: FastifyRequest,
  presented: { workspaceId: string; secret: string },
) {
  const dataCenter = calledDataCenter(request, deps.serviceDomain);
  const found = await authenticateKey(deps, { ...presented, dataCenter, at: deps.clock.now() });
  if (found.outcome !== 'ok')
    throw new ServiceError('DATA_CREDENTIALS_INVALID', { detail: 'unknown workspace or key' });
  request.facts.workspaceId = found.key.workspaceId;
  request.facts.keyId = found.key.id;
  if (!opensAsPassword(found.key, 'data'))
    throw new ServiceError('SCOPE_MISSING', { detail: `a key of kind ${found.key.kind}` });
  return found.key;
}

/** Accepts `region` as `01`, `DC_01` or `dc-01`. Forms send an empty text for a field that was left empty. */
function readOrigin(body: Body): { source: string | undefined; region: string | undefined } {
  return readData(body, (sent) => {
    const read = reading(sent, members);
    const source = read('source') || undefined;
    const named = read('region') || undefined;
    const region = named === undefined ? undefined : /^(?:dc[_-]?)?(\d{2,3})$/i.exec(named)?.[1];
    if (named !== undefined && region === undefined) sent.invalid('region', 'is not a data center');
    return { source, region };
  });
}
