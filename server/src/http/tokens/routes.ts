import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { generateToken } from '../../app/tokens/generate-token.ts';
import type { IssuedTokens } from '../../app/tokens/issue-access-token.ts';
import { refreshToken } from '../../app/tokens/refresh-token.ts';
import { revokeToken } from '../../app/tokens/revoke-token.ts';
import type { TokenCaller } from '../../app/tokens/token-caller.ts';
import type { TokenDependencies } from '../../app/tokens/token-dependencies.ts';
import { ServiceError } from '../../domain/errors.ts';
import { dataCenterOfHost } from '../../domain/tokens/data-center.ts';
import { readBasic } from '../auth/basic.ts';
import { callerAddress } from '../caller-address.ts';
import { describeOperation } from '../openapi/describe-operation.ts';
import type { Dialect } from '../openapi/describe-operation.ts';
import { toServiceError } from '../to-service-error.ts';
import type { AnsweredCall } from '../add-warnings.ts';
import { warnOfUnknownNames } from '../unknown-fields.ts';
import type { VendorHeaders } from '../vendor-headers.ts';
import { makeVendorHeaders } from '../vendor-headers.ts';
import { parseForm } from './form.ts';
import type { Form } from './form.ts';
import { presentIssuedTokens, presentTokenError, tokenErrors } from './present.ts';
import {
  assertGrantType,
  errorAnswer,
  generatedAnswer,
  readCredentials,
  refreshFields,
  refreshForm,
  refreshedAnswer,
  requireSecret,
  revokeFields,
  revokeForm,
  revokedAnswer,
  tokenFields,
  tokenForm,
} from './shapes.ts';
import { maxTokenBodyBytes } from '../../domain/tokens/limits.ts';

export type TokenRouteDependencies = TokenDependencies & {
  /** Domain whose hosts name a data center (decision D1); without it any host serves all workspaces. */
  serviceDomain?: string | undefined;
  vendorHeaders?: VendorHeaders;
};

const mediaType = 'application/x-www-form-urlencoded';

const dialect: Dialect = {
  tag: 'Tokens',
  // They are in the form, or in the header that a form may be replaced by (RFC 6749 §2.3.1).
  credentials: [],
  refusals: { errors: tokenErrors, shape: errorAnswer, codeOf: (name) => tokenErrors[name]?.errorType },
};

const queryCredentials = ['client_secret', 'refresh_token', 'client_id', 'access_token', 'token'];

/** POST /v1/oauth/token, /refresh and /revoke (interface 4.1, 4.2; decision D10 to D19). */
export function tokenRoutes(deps: TokenRouteDependencies): FastifyPluginAsync {
  const { serviceDomain, vendorHeaders = makeVendorHeaders('SVC') } = deps;
  const read = (request: FastifyRequest) => readRequest(request, serviceDomain);
  const warn = (call: AnsweredCall, names: string[]): void => warnOfUnknownNames(vendorHeaders, call, names);

  return async (server) => {
    prepareScope(server);

    route(server, '/v1/oauth/token', {
      operationId: 'generateToken',
      summary: 'Generate an access token',
      form: tokenForm,
      answer: generatedAnswer,
      async handler(request, reply) {
        const { form, basic, caller, repeatable } = read(request);
        assertGrantType(form, 'client_credentials');
        const credentials = readCredentials(form, basic);
        const clientSecret = requireSecret(credentials);
        warn({ request, reply }, form.unknownNames(tokenFields));
        const command = { ...repeatable, caller: { ...caller, clientId: credentials.clientId }, clientSecret };
        return answer(request, await generateToken(deps, command));
      },
    });

    route(server, '/v1/oauth/refresh', {
      operationId: 'refreshToken',
      summary: 'Refresh an access token',
      form: refreshForm,
      answer: refreshedAnswer,
      async handler(request, reply) {
        const { form, basic, caller, repeatable } = read(request);
        assertGrantType(form, 'refresh_token');
        const { clientId, clientSecret } = readCredentials(form, basic);
        const given = form.read('refresh_token');
        if (given === undefined) throw new ServiceError('TOKEN_REFRESH_MISSING');
        warn({ request, reply }, form.unknownNames(refreshFields));
        const command = { ...repeatable, caller: { ...caller, clientId }, refreshToken: given, clientSecret };
        return answer(request, await refreshToken(deps, command));
      },
    });

    route(server, '/v1/oauth/revoke', {
      operationId: 'revokeToken',
      summary: 'Revoke an access or refresh token (RFC 7009)',
      form: revokeForm,
      answer: revokedAnswer,
      async handler(request, reply) {
        const { form, basic, caller } = read(request);
        const credentials = readCredentials(form, basic);
        const clientSecret = requireSecret(credentials);
        const token = form.read('token');
        if (token === undefined) throw new ServiceError('TOKEN_TO_REVOKE_MISSING');
        warn({ request, reply }, form.unknownNames(revokeFields));
        await revokeToken(deps, { caller: { ...caller, clientId: credentials.clientId }, clientSecret, token });
        return { status: 'SUCCESS' };
      },
    });
  };
}

/**
 * The scope's own body parser, error shape and first checks: method, then media type, then the query (decision D10,
 * D17).
 */
function prepareScope(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  // The text is the body: repeated fields stay visible, and request.rawBody, which the API log keeps, stays empty.
  server.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxTokenBodyBytes }, (_request, text, done) => {
    done(null, text);
  });
  // The schemas document; the handlers check.
  server.setValidatorCompiler(() => () => true);
  server.setErrorHandler((error, request, reply) =>
    presentTokenError(toServiceError(error, request), { request, reply }),
  );
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    if (request.method !== 'POST') throw new ServiceError('METHOD_NOT_ALLOWED');
    const sent = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
    if (sent !== mediaType) throw new ServiceError('MEDIA_TYPE_UNSUPPORTED');
    const query = request.query as Record<string, unknown>;
    const field = queryCredentials.find((name) => Object.hasOwn(query, name));
    if (field !== undefined) throw new ServiceError('TOKEN_CREDENTIALS_IN_QUERY', { field });
  });
}

type TokenRoute = {
  operationId: string;
  summary: string;
  form: TSchema;
  answer: TSchema;
  handler(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
};

function route(server: FastifyInstance, path: string, { form, answer, handler, ...named }: TokenRoute): void {
  server.route({
    method: 'POST',
    url: path,
    bodyLimit: maxTokenBodyBytes,
    config: { isAnswerSecret: true },
    schema: describeOperation(dialect, {
      ...named,
      description:
        'Credentials may also be sent as Basic authentication instead of client_id and client_secret; both must agree when both are sent.',
      ...(path.endsWith('/revoke') ? {} : { isRepeatable: true }),
      consumes: [mediaType],
      body: form,
      answers: { 200: answer },
      refuses: [401, 429],
    }),
    handler,
  });
  server.route({
    method: server.supportedMethods.filter((method) => method !== 'POST'),
    url: path,
    exposeHeadRoute: false,
    schema: { hide: true },
    // Never reached: the scope's first hook refuses the method.
    handler: async () => undefined,
  });
}

function readRequest(request: FastifyRequest, serviceDomain: string | undefined) {
  const rawBody = typeof request.body === 'string' ? request.body : '';
  const form: Form = parseForm(rawBody);
  const idempotencyKey = request.headers['idempotency-key'];
  const caller: Omit<TokenCaller, 'clientId'> = {
    address: callerAddress(request),
    dataCenter: dataCenterOfHost(request.hostname, serviceDomain),
  };
  return {
    form,
    basic: readBasic(request.headers),
    caller,
    repeatable: { idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined, rawBody },
  };
}

function answer(request: FastifyRequest, issued: IssuedTokens) {
  request.facts.workspaceId = issued.workspaceId;
  request.facts.keyId = issued.keyId;
  return presentIssuedTokens(issued);
}
