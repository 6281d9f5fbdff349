import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';
import type { TObject, TProperties, TSchema } from 'typebox';
import type { ErrorName } from '../../domain/errors.ts';
import { gatewayErrors, gatewayError } from '../route/gateway-errors.ts';
import { answerHeaders } from './shapes.ts';

type Wire = number | { status: number };

/** How a family refuses: its own table of errors, from which statuses and texts are taken, and the shape of the body. */
export type Refusals = {
  errors: Partial<Record<ErrorName, Wire>>;
  shape: TSchema;
  /** Of a fault of ours, where the family has another shape for it. */
  fault?: TSchema;
  mediaType?: string;
  /** Statuses of refusals that say nothing beside it. */
  withoutBody?: readonly number[];
  /** The code of an error on the wire, where the family has codes. */
  codeOf?: (name: ErrorName) => string | undefined;
};

/** What all operations of a family have in common. */
export type Dialect = {
  tag: string;
  /** Names of security schemes, one of which is enough; none for a route that asks for no credentials. */
  credentials: readonly string[];
  /** Credentials may be left out; if they are sent they must be valid. */
  areCredentialsOptional?: true;
  headers?: TProperties;
  /** Sent with every reply of the family that is no refusal. */
  answerHeaders?: TProperties;
  refusals: Refusals;
  /** Replies carry the state of a limit. */
  isLimited?: true;
  isDeprecated?: true;
};

export type Operation = {
  /** Unique; clients that are generated from the document call their method so. */
  operationId: string;
  summary: string;
  description?: string;
  /** In addition to those of the family. */
  headers?: TProperties;
  params?: TObject;
  querystring?: TObject;
  body?: TSchema;
  /** Media types of the body; JSON unless given. */
  consumes?: string[];
  /** Takes Idempotency-Key (decision D4). */
  isRepeatable?: true;
  /** The shape of each reply that is no refusal. */
  answers: Record<number, TSchema>;
  /** Of replies that are no JSON. */
  answerType?: string;
  /** Sent with replies that are no refusal. */
  answerHeaders?: TProperties;
  /** Statuses of refusals besides those that every operation of its kind has. */
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
 * The schema of a route as Fastify takes it and the document shows it: a refusal for every status of the family's table
 * that can come, in the family's shape or the gateway's, with the headers that its status asks for.
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

/** Of a status that a reply and a refusal share, a node that says of itself that it is not ready, each has its media type. */
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

/** Fastify knows no response without a body but one of the type null. */
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
  const statuses = new Set([...everyRefusal, ...(operation.refuses ?? [])]);
  if (operation.body) for (const status of bodyRefusals) statuses.add(status);
  if (operation.isRepeatable) statuses.add(409);
  if (isLimited) statuses.add(429);
  if (dialect.credentials.length > 0) for (const status of credentialRefusals) statuses.add(status);
  const own = groupByStatus(refusals);
  const gateway = groupByStatus({ errors: gatewayErrors, codeOf: gatewayCodeOf });
  return Object.fromEntries(
    [...statuses].sort().map((status) => {
      const isOwn = own.has(status) || status === 500;
      // What a family has no refusal of its own for is the gateway's.
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

/** Of every route: what is no request, a host of another data center, a fault, no storage. */
const everyRefusal = [400, 421, 500, 503];
const bodyRefusals = [413, 415];
const credentialRefusals = [401, 403];

/** The errors of each status, with their code on the wire where there is one. */
function groupByStatus({ errors, codeOf }: Pick<Refusals, 'errors' | 'codeOf'>): Map<number, string[]> {
  const byStatus = new Map<number, string[]>();
  for (const [name, wire] of Object.entries(errors) as [ErrorName, Wire][]) {
    const status = typeof wire === 'number' ? wire : wire.status;
    const code = codeOf?.(name);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code === undefined ? name : `${name} (${code})`]);
  }
  return byStatus;
}

function gatewayCodeOf(name: ErrorName): string | undefined {
  return (gatewayErrors as Partial<Record<ErrorName, { code: string }>>)[name]?.code;
}
