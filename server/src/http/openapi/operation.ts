import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';
import type { TObject, TProperties, TSchema } from 'typebox';
import type { ErrorName } from '../../domain/errors.ts';
import type { DialectErrors } from '../route/dialect-errors.ts';
import { gatewayErrors, gatewayError } from '../route/gateway-errors.ts';
import { answerHeaders } from './shapes.ts';

/** The errors of a family: its own table, which supplies statuses and texts, and the shape of the body. */
export type Refusals = {
  errors: DialectErrors<object>;
  shape: TSchema;
  /** The shape of an internal fault, if the family uses another shape for it. */
  fault?: TSchema;
  mediaType?: string;
  /** Statuses of errors that have no body. */
  withoutBody?: readonly number[];
  /** Returns the code of an error on the wire, if the family has codes. */
  codeOf?: (name: ErrorName) => string | undefined;
};

/** The settings that all operations of a family share. */
export type Dialect = {
  tag: string;
  /** Names of security schemes, of which one is enough; empty for a route without credentials. */
  credentials: readonly string[];
  /** Credentials may be left out; if they are sent they must be valid. */
  areCredentialsOptional?: true;
  headers?: TProperties;
  /** Sent with every response of the family that is not an error. */
  answerHeaders?: TProperties;
  refusals: Refusals;
  /** Statuses of errors of every operation of the family, in addition to those of its kind. */
  refuses?: readonly number[];
  /** Responses include the state of a limit. */
  isLimited?: true;
  isDeprecated?: true;
};

export type Operation = {
  /** Unique; client generators use it as the name of the method. */
  operationId: string;
  summary: string;
  description?: string;
  /** Headers in addition to those of the family. */
  headers?: TProperties;
  params?: TObject;
  querystring?: TObject;
  body?: TSchema;
  /** Media types of the body; JSON unless given. */
  consumes?: string[];
  /** Accepts Idempotency-Key (decision D4). */
  isRepeatable?: true;
  /** The shape of each response that is not an error. */
  answers: Record<number, TSchema>;
  /** The media type of responses that are not JSON. */
  answerType?: string;
  /** Sent with responses that are not errors. */
  answerHeaders?: TProperties;
  /** Statuses of errors in addition to those of every operation of its kind. */
  refuses?: readonly number[];
};

export const idempotencyKey = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Names this request: a repeat with the same key and body is answered as the first was, once done.',
  }),
);

/**
 * Returns the schema of a route for Fastify and for the document. It has an error response for every status of the family's
 * table that can occur, in the family's shape or the gateway's, with the headers that the status requires.
 */
export function describeOperation(dialect: Dialect, operation: Operation): FastifySchema {
  const { operationId, summary, description, params, querystring, body, consumes, isRepeatable } = operation;
  const headers = {
    ...dialect.headers,
    ...operation.headers,
    ...(isRepeatable ? { 'Idempotency-Key': idempotencyKey } : {}),
  };
  return {
    operationId,
    summary,
    tags: [dialect.tag],
    security: [...(dialect.areCredentialsOptional ? [{}] : []), ...dialect.credentials.map((name) => ({ [name]: [] }))],
    ...(description === undefined ? {} : { description }),
    ...(dialect.isDeprecated ? { deprecated: true } : {}),
    ...(params ? { params } : {}),
    ...(querystring ? { querystring } : {}),
    ...(Object.keys(headers).length > 0 ? { headers: Type.Object(headers) } : {}),
    ...(body ? { body } : {}),
    ...(consumes ? { consumes } : {}),
    response: bothOf(describeAnswers(dialect, operation), describeRefusals(dialect, operation)),
  };
}

type Response = { description: string; headers?: object; content?: Record<string, { schema: TSchema }> };

/** Merges a status that is both a response and an error, such as 503 of a node that is not ready; each keeps its media type. */
function bothOf(answers: Record<number, object>, refusals: Record<number, object>): Record<number, object> {
  const both = { ...answers, ...refusals };
  for (const status of Object.keys(answers).map(Number)) {
    const [answer, refusal] = [answers[status], refusals[status]] as (Response | undefined)[];
    if (!answer || !refusal) continue;
    both[status] = {
      description: `${answer.description}. ${refusal.description}`,
      headers: { ...answer.headers, ...refusal.headers },
      content: { ...answer.content, ...refusal.content },
    };
  }
  return both;
}

function describeAnswers(dialect: Dialect, operation: Operation): Record<number, object> {
  const headers = {
    ...(dialect.isLimited ? answerHeaders.limit : {}),
    ...(operation.body ? answerHeaders.warning : {}),
    ...dialect.answerHeaders,
    ...operation.answerHeaders,
  };
  const type = operation.answerType ?? 'application/json';
  return Object.fromEntries(
    Object.entries(operation.answers).map(([status, shape]) => [
      status,
      toResponse({ description: answerTexts[status] ?? 'Done', headers, content: { [type]: { schema: shape } } }),
    ]),
  );
}

const answerTexts: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted; it is done later',
  204: 'Done; there is no body',
  302: 'Go to the address in Location',
  503: 'Not ready',
};

/** Fastify represents a response without a body only by the type null. */
function toResponse({ content = {}, ...response }: Response): object {
  const [schema] = Object.values(content);
  return (schema?.schema as { type?: string } | undefined)?.type === 'null'
    ? { ...response, type: 'null' }
    : { ...response, content };
}

function describeRefusals(dialect: Dialect, operation: Operation): Record<number, object> {
  const { refusals, isLimited } = dialect;
  const { shape, fault = shape, mediaType = 'application/json', withoutBody = [] } = refusals;
  const asksGateway = dialect.credentials.includes('bearer');
  const statuses = new Set([...everyRefusal, ...(dialect.refuses ?? []), ...(operation.refuses ?? [])]);
  if (operation.body) for (const status of bodyRefusals) statuses.add(status);
  if (operation.isRepeatable) statuses.add(409);
  if (isLimited) statuses.add(429);
  if (dialect.credentials.length > 0) for (const status of credentialRefusals) statuses.add(status);
  const own = groupByStatus(refusals);
  const gateway = groupByStatus({ errors: gatewayErrors, codeOf: gatewayCodeOf });
  return Object.fromEntries(
    [...statuses].sort().map((status) => {
      const isOwn = own.has(status) || status === 500;
      // The gateway reports errors that the family's table does not cover.
      const isGateway = gateway.has(status) && (asksGateway || !isOwn);
      const told = [...(own.get(status) ?? []), ...(isGateway ? gateway.get(status)! : [])];
      const bodyShape = status === 500 ? fault : shape;
      const schema = isOwn && isGateway ? Type.Union([shape, gatewayError]) : isGateway ? gatewayError : bodyShape;
      const headers = {
        ...(isLimited && status === 429 ? answerHeaders.limit : {}),
        ...(status === 401 ? answerHeaders.challenge : {}),
        ...(status === 429 || status === 503 ? answerHeaders.retry : {}),
      };
      const description = told.length === 0 ? 'A fault of ours' : `Refused: ${told.join(', ')}`;
      const refusal = { description, ...(Object.keys(headers).length > 0 ? { headers } : {}) };
      if (withoutBody.includes(status)) return [status, { ...refusal, type: 'null' }];
      return [
        status,
        {
          ...refusal,
          content: { [isGateway && !isOwn ? 'application/json' : mediaType]: { schema } },
        },
      ];
    }),
  );
}

/** Statuses of every route: malformed request, host of another data center, internal fault, storage unavailable. */
const everyRefusal = [400, 421, 500, 503];
const bodyRefusals = [413, 415];
const credentialRefusals = [401, 403];

/** Groups the errors by status, with their code on the wire if there is one. */
function groupByStatus({ errors, codeOf }: Pick<Refusals, 'errors' | 'codeOf'>): Map<number, string[]> {
  const byStatus = new Map<number, string[]>();
  for (const [name, { status }] of Object.entries(errors) as [ErrorName, { status: number }][]) {
    const code = codeOf?.(name);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code === undefined ? name : `${name} (${code})`]);
  }
  return byStatus;
}

function gatewayCodeOf(name: ErrorName): string | undefined {
  return gatewayErrors[name]?.code;
}
