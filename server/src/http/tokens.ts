import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { TObject } from 'typebox';
import type { TokenCaller, TokenDependencies } from '../app/tokens/prove-clients.ts';
import { generateToken, refreshToken, revokeToken } from '../app/tokens/tokens.ts';
import type { IssuedTokens } from '../app/tokens/tokens.ts';
import { ServiceError } from '../domain/errors.ts';
import { maxTokenBodyBytes } from '../domain/limits/access.ts';
import type { Operation } from './openapi/operation.ts';
import { codeShape, named } from './openapi/shapes.ts';
import { readBasic } from './route/auth.ts';
import type { BasicCredentials } from './route/auth.ts';
import { bodyErrors, declareErrors, repeatErrors, routeErrors, statusConstant } from './route/dialect-errors.ts';
import { addRoutes, route } from './route/route.ts';
import type { Call, Route, RouteDialect } from './route/route.ts';
import { makeVendorHeaders } from './route/vendor-headers.ts';
import type { VendorHeaders } from './route/vendor-headers.ts';
import type { AnsweredCall } from './route/warnings.ts';
import type { RouteFamily } from './server/build-server.ts';
import { calledDataCenter, callerAddress } from './server/call-origin.ts';

/** Presents table 2.2 of the interface with the members of RFC 6749 §5.1 next to the envelope (decision D18). */
function presentIssuedTokens(issued: IssuedTokens) {
  const members = {
    access_token: issued.accessToken,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    token_type: 'Bearer' as const,
    expires_in: issued.expiresInSeconds,
  };
  return { status: 'SUCCESS' as const, data: members, ...members };
}

type Refusal = {
  /** The code of interface 7, or a word if the interface names no code. */
  errorType: string;
  /** RFC 6749 §5.2. */
  error: string;
};

/** The types that differ from the reason phrase of their status. */
const errorTypes: Partial<Record<number, string>> = {
  400: 'INVALID_REQUEST',
  429: 'RATE_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
};

/** The errors of RFC 6749 §5.2 that are not invalid_request. */
const standardErrors: Partial<Record<number, string>> = {
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** Every error that a token endpoint can return. */
export const tokenErrors = declareErrors<Refusal>(
  {
    TOKEN_GRANT_TYPE_INVALID: { errorType: 'ER018', error: 'unsupported_grant_type' },
    TOKEN_CLIENT_ID_MISSING: { errorType: 'ER019' },
    TOKEN_CLIENT_SECRET_MISSING: { errorType: 'ER020' },
    TOKEN_REFRESH_MISSING: { errorType: 'ER021' },
    TOKEN_TO_REVOKE_MISSING: {},
    TOKEN_CREDENTIALS_INVALID: { errorType: 'ER011', error: 'invalid_client' },
    TOKEN_KEY_NOT_OAUTH: { errorType: 'ER012', error: 'unauthorized_client' },
    // Statuses of refresh errors: interface 7 gives none, see decision D12.
    TOKEN_REFRESH_INVALID: { errorType: 'ER010', error: 'invalid_grant' },
    TOKEN_CLIENT_MISMATCH: { errorType: 'ER013', error: 'invalid_grant' },
    // These two have the code of their field, see fieldCodes.
    TOKEN_FIELD_REPEATED: {},
    TOKEN_CREDENTIALS_IN_QUERY: {},
    TOKEN_RATE_LIMITED: {},
    HOST_NOT_SERVED: { errorType: 'HOST_NOT_SERVED' },
    IDEMPOTENCY_CONFLICT: { errorType: 'IDEMPOTENCY_CONFLICT' },
  },
  {
    // An empty form lacks a field, so BODY_EMPTY does not occur.
    shared: [...bodyErrors.filter((name) => name !== 'BODY_EMPTY'), ...routeErrors, ...repeatErrors, 'INTERNAL'],
    wireOf: (status) => ({
      errorType: errorTypes[status] ?? statusConstant(status),
      error: standardErrors[status] ?? 'invalid_request',
    }),
  },
);

const fieldCodes: Record<string, string> = {
  grant_type: 'ER018',
  client_id: 'ER019',
  client_secret: 'ER020',
  refresh_token: 'ER021',
};

/** Sends every error in the shape of table 2.3. */
function presentTokenError(error: ServiceError, { request, reply }: AnsweredCall): FastifyReply {
  const { status, errorType, error: standardError } = tokenErrors[error.code] ?? tokenErrors.INTERNAL!;
  const { field, reason, retryAfterSeconds } = error.context;
  if (status === 401) reply.header('www-authenticate', challengeFor(request));
  if (status === 405) reply.header('allow', 'POST');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const text = field === undefined ? error.message : `${error.message} (${field})`;
  const isMissingGrantType = error.code === 'TOKEN_GRANT_TYPE_INVALID' && reason === 'missing';
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send({
      status: 'FAILURE',
      error_type: (field === undefined ? undefined : fieldCodes[field]) ?? errorType,
      reason: text,
      error: isMissingGrantType ? 'invalid_request' : standardError,
      error_description: text,
    });
}

/**
 * Returns the challenge that RFC 9110 requires for every 401. Clients that used Basic get Basic (RFC 6749 §5.2); for others
 * it would make a browser open its password window.
 */
function challengeFor(request: FastifyRequest): string {
  const usedBasic = /^basic /i.test(request.headers.authorization ?? '');
  return usedBasic ? 'Basic realm="Carillon", charset="UTF-8"' : 'Bearer realm="Carillon"';
}

/** Client credentials of a token request: in the form, or in the Authorization header (decision D18). */
export type Credentials = { clientId: string; clientSecret: string | undefined };

/** @throws ServiceError TOKEN_GRANT_TYPE_INVALID, TOKEN_FIELD_REPEATED */
function assertGrantType(form: Form, expected: 'client_credentials' | 'refresh_token'): void {
  const grantType = form.read('grant_type');
  if (grantType === expected) return;
  throw new ServiceError('TOKEN_GRANT_TYPE_INVALID', { reason: grantType === undefined ? 'missing' : 'unsupported' });
}

/**
 * Returns the client credentials. If both the form and the header contain them, they must agree: a client that sends two
 * different ids is as wrong as one that repeats a field.
 *
 * @throws ServiceError TOKEN_CLIENT_ID_MISSING, TOKEN_FIELD_REPEATED
 */
function readCredentials(form: Form, basic: BasicCredentials | undefined): Credentials {
  const header = basic && { clientId: formDecoded(basic.username), clientSecret: formDecoded(basic.password) };
  const clientId = merged('client_id', form.read('client_id'), header?.clientId);
  if (clientId === undefined) throw new ServiceError('TOKEN_CLIENT_ID_MISSING');
  return { clientId, clientSecret: merged('client_secret', form.read('client_secret'), header?.clientSecret) };
}

/** @throws ServiceError TOKEN_CLIENT_SECRET_MISSING */
function requireSecret({ clientSecret }: Credentials): string {
  if (clientSecret === undefined) throw new ServiceError('TOKEN_CLIENT_SECRET_MISSING');
  return clientSecret;
}

function merged(name: string, inForm: string | undefined, inHeader: string | undefined): string | undefined {
  const header = inHeader === '' ? undefined : inHeader;
  if (inForm !== undefined && header !== undefined && inForm !== header) {
    throw new ServiceError('TOKEN_FIELD_REPEATED', { field: name, detail: 'form and Authorization header differ' });
  }
  return inForm ?? header;
}

/** Decodes an id or a secret: RFC 6749 §2.3.1 form-encodes them before they become Basic credentials. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

// The schemas below only describe the routes; the code above checks the form, because order and codes are special
// (decision D10).

const grantType = (value: string) => Type.Literal(value, { description: `Always \`${value}\`.` });
const clientId = Type.String({ description: 'The Workspace ID.' });
const clientSecret = Type.String({ description: 'The API key value; its authentication type must be OAuth 2.0.' });

const tokenForm = named(
  'TokenRequest',
  Type.Object({
    grant_type: grantType('client_credentials'),
    client_id: clientId,
    client_secret: clientSecret,
  }),
);

const refreshForm = named(
  'RefreshRequest',
  Type.Object({
    grant_type: grantType('refresh_token'),
    client_id: clientId,
    refresh_token: Type.String({ description: 'The refresh token returned by generation; valid 30 days.' }),
    client_secret: Type.Optional(
      Type.String({ description: 'Optional, unless the workspace requires it; checked when sent.' }),
    ),
  }),
);

const revokeForm = named(
  'RevokeRequest',
  Type.Object({
    token: Type.String({
      description: 'An access token, or a refresh token together with all access tokens made from it.',
    }),
    token_type_hint: Type.Optional(Type.String({ description: 'Not needed; any value is accepted.' })),
    client_id: clientId,
    client_secret: clientSecret,
  }),
);

const issued = {
  access_token: Type.String({ description: 'The Bearer token.' }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds from the issue, 300 to 3600.' }),
};
const generated = {
  ...issued,
  refresh_token: Type.String({ description: 'Valid 30 days; not replaced by refreshing.' }),
};

/** The response of interface 2.2, and the members of RFC 6749 §5.1 at top level (decision D18). */
const generatedAnswer = named(
  'GeneratedToken',
  Type.Object({ status: Type.Literal('SUCCESS'), data: Type.Object(generated), ...generated }),
);

const refreshedAnswer = named(
  'RefreshedToken',
  Type.Object({ status: Type.Literal('SUCCESS'), data: Type.Object(issued), ...issued }),
);

const revokedAnswer = named('RevokedToken', Type.Object({ status: Type.Literal('SUCCESS') }));

const refusals = Object.values(tokenErrors);

/** The response of interface 2.3, and the members of RFC 6749 §5.2 (decision D18). */
const errorAnswer = named(
  'TokenError',
  Type.Object({
    status: Type.Literal('FAILURE'),
    error_type: codeShape(
      refusals.map(({ errorType }) => errorType),
      'Error code, for example ER011.',
    ),
    reason: Type.String({ description: 'Human-readable description.' }),
    error: codeShape(
      refusals.map(({ error }) => error),
      'Error code of RFC 6749 §5.2.',
    ),
    error_description: Type.String(),
  }),
);

export type TokenRouteDependencies = TokenDependencies & {
  /** Domain with the hosts that name a data center (decision D1); without it any host serves all workspaces. */
  serviceDomain?: string | undefined;
  vendorHeaders?: VendorHeaders;
};

/** Routes POST /v1/oauth/token, /refresh and /revoke (interface 4.1, 4.2; decision D10 to D19). */
export function tokenRoutes(deps: TokenRouteDependencies): RouteFamily {
  const dialect = makeTokenDialect(deps);
  return async (server) => {
    server.removeAllContentTypeParsers();
    // The body is the unparsed text: repeated fields stay visible, and request.rawBody, which the API log stores, stays empty.
    // By its name too: Fastify parses the header of every request that only `*` matches, which takes several microseconds.
    for (const accepted of [mediaType, '*'])
      server.addContentTypeParser(accepted, { parseAs: 'string' }, (_request, text, done) => done(null, text));
    await addRoutes(server, [generateRoute(dialect, deps), refreshRoute(dialect, deps), revokeRoute(dialect, deps)]);
  };
}

function generateRoute(dialect: RouteDialect, deps: TokenRouteDependencies): Route {
  return route(dialect, {
    ...tokenRoute,
    url: '/v1/oauth/token',
    operationId: 'generateToken',
    summary: 'Generate an access token',
    body: tokenForm,
    isRepeatable: true,
    answers: { 200: generatedAnswer },
    read(call) {
      const { form, basic, ...sent } = readRequest(call, deps);
      assertGrantType(form, 'client_credentials');
      const credentials = readCredentials(form, basic);
      return { ...sent, form, clientId: credentials.clientId, clientSecret: requireSecret(credentials) };
    },
    findUnknown: ({ input: { form } }) => form.unknownNames(tokenForm),
    async handle({ input: { caller, repeatable, clientId, clientSecret }, request, warn }) {
      warn();
      const command = { ...repeatable, caller: { ...caller, clientId }, clientSecret };
      return answer(request, await generateToken(deps, command));
    },
  });
}

function refreshRoute(dialect: RouteDialect, deps: TokenRouteDependencies): Route {
  return route(dialect, {
    ...tokenRoute,
    url: '/v1/oauth/refresh',
    operationId: 'refreshToken',
    summary: 'Refresh an access token',
    body: refreshForm,
    isRepeatable: true,
    answers: { 200: refreshedAnswer },
    read(call) {
      const { form, basic, ...sent } = readRequest(call, deps);
      assertGrantType(form, 'refresh_token');
      const credentials = readCredentials(form, basic);
      const given = form.read('refresh_token');
      if (given === undefined) throw new ServiceError('TOKEN_REFRESH_MISSING');
      return { ...sent, form, ...credentials, refreshToken: given };
    },
    findUnknown: ({ input: { form } }) => form.unknownNames(refreshForm),
    async handle({ input: { caller, repeatable, clientId, clientSecret, refreshToken: given }, request, warn }) {
      warn();
      const command = { ...repeatable, caller: { ...caller, clientId }, refreshToken: given, clientSecret };
      return answer(request, await refreshToken(deps, command));
    },
  });
}

function revokeRoute(dialect: RouteDialect, deps: TokenRouteDependencies): Route {
  return route(dialect, {
    ...tokenRoute,
    url: '/v1/oauth/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke an access or refresh token (RFC 7009)',
    body: revokeForm,
    answers: { 200: revokedAnswer },
    read(call) {
      const { form, basic, caller } = readRequest(call, deps);
      const credentials = readCredentials(form, basic);
      const clientSecret = requireSecret(credentials);
      const token = form.read('token');
      if (token === undefined) throw new ServiceError('TOKEN_TO_REVOKE_MISSING');
      return { form, token, clientSecret, caller: { ...caller, clientId: credentials.clientId } };
    },
    findUnknown: ({ input: { form } }) => form.unknownNames(revokeForm),
    async handle({ input: { caller, clientSecret, token }, warn }) {
      warn();
      await revokeToken(deps, { caller, clientSecret, token });
      return { status: 'SUCCESS' };
    },
  });
}

const mediaType = 'application/x-www-form-urlencoded';

const tokenRoute = {
  method: 'POST' as const,
  maxBodyBytes: maxTokenBodyBytes,
  config: { isAnswerSecret: true },
  description:
    'Credentials may also be sent as Basic authentication instead of client_id and client_secret; both must agree when both are sent.',
  consumes: [mediaType],
  refuses: [401, 429],
} satisfies Partial<Operation> & { [member: string]: unknown };

const queryCredentials = ['client_secret', 'refresh_token', 'client_id', 'access_token', 'token'];

/** Makes the dialect of RFC 6749. The first checks are of the method, then the media type, then the query (decision D10, D17). */
function makeTokenDialect({ vendorHeaders = makeVendorHeaders('SVC') }: TokenRouteDependencies): RouteDialect {
  return {
    tag: 'Tokens',
    // The credentials are in the form, or in the header that may replace it (RFC 6749 §2.3.1).
    credentials: [],
    refusals: { errors: tokenErrors, shape: errorAnswer, codeOf: (name) => tokenErrors[name]?.errorType },
    vendorHeaders,
    onEveryCall(_request, reply) {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
    },
    onRequest: [refuseOtherForms],
    callerOf: () => ({}),
    // The parsers read the form.
    readBody: () => ({}),
    presentError: presentTokenError,
  };
}

function refuseOtherForms(request: FastifyRequest): void {
  const sent = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (sent !== mediaType) throw new ServiceError('MEDIA_TYPE_UNSUPPORTED');
  const query = request.query as Record<string, unknown>;
  const field = queryCredentials.find((name) => Object.hasOwn(query, name));
  if (field !== undefined) throw new ServiceError('TOKEN_CREDENTIALS_IN_QUERY', { field });
}

function readRequest({ request, once }: Call, { serviceDomain }: Pick<TokenRouteDependencies, 'serviceDomain'>) {
  const rawBody = typeof request.body === 'string' ? request.body : '';
  const form: Form = parseForm(rawBody);
  const caller: Omit<TokenCaller, 'clientId'> = {
    address: callerAddress(request),
    dataCenter: calledDataCenter(request, serviceDomain),
  };
  return { form, basic: readBasic(request.headers), caller, repeatable: { idempotencyKey: once.key, rawBody } };
}

function answer(request: FastifyRequest, issued: IssuedTokens) {
  request.facts.workspaceId = issued.workspaceId;
  request.facts.keyId = issued.keyId;
  return presentIssuedTokens(issued);
}

/** A form body, read by name, so that a repeated field is noticed. */
type Form = {
  /**
   * Returns the value of a field; a field without a value counts as absent (RFC 6749 §3.2).
   *
   * @throws ServiceError TOKEN_FIELD_REPEATED
   */
  read(name: string): string | undefined;
  /** Returns the names that the form does not have, at most 20. */
  unknownNames(form: TObject): string[];
};

/** @param text the body as it was sent: `application/x-www-form-urlencoded`, UTF-8 */
function parseForm(text: string): Form {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name) ?? [];
    if (values.length === 0) fields.set(name, values);
    if (value !== '') values.push(value);
  }
  return {
    read(name) {
      const values = fields.get(name) ?? [];
      if (values.length > 1) throw new ServiceError('TOKEN_FIELD_REPEATED', { field: name });
      return values[0];
    },
    unknownNames({ properties }) {
      const names = [...fields.keys()].filter((name) => !Object.hasOwn(properties, name));
      // A longer name may be a secret that was pasted without its name, and warnings end up in the log.
      return names.slice(0, 20).map((name) => (/^[A-Za-z0-9_.-]{1,32}$/.test(name) ? name : '(unreadable)'));
    },
  };
}
