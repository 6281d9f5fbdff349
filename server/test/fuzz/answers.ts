import type { IncomingHttpHeaders } from 'node:http';
import { Check } from 'typebox/value';
import type { Shape } from '../http/body-arbitrary.ts';
import type { FuzzRequest } from './requests.ts';

export type FuzzAnswer = { status: number; headers: IncomingHttpHeaders; text: string };

const text = { type: 'string' };
/** Answers that may come instead of a route's own (docs/errors.md): of the gateway, of the edge, of an unknown path. */
const gateway = shapeOf({ code: text, target: text, message: text });
const problem = shapeOf({ type: text, title: text, status: { type: 'integer' }, code: text });
const unknownPath = shapeOf({ code: { const: 404 }, status: { const: 'error' }, reason: text });

/** Of an unknown path, another method, a part of the path that is too long, an expectation, too large a head. */
const beforeRoutes = [404, 405, 414, 417, 431];

function shapeOf(properties: Record<string, Shape>): Shape {
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** What no answer tells: where the code stands, what the database said, what JavaScript makes of an object. */
const inside = /node_modules|file:\/\/\/|\bat \S+ \(|DatabaseError|SQLSTATE|duplicate key value|\[object Object\]/;

/** Says what is wrong with an answer, or undefined: a fault of ours, no JSON, or another shape than the route documents. */
export function judgeAnswer(request: FuzzRequest, answer: FuzzAnswer): string | undefined {
  const { operation, method } = request;
  const { status, headers, text } = answer;
  if (status === 599) return `no answer: ${text}`;
  // Only /readyz documents a 503: the node says of itself that it cannot work now.
  if (status >= 500 && !(status === 503 && operation.answers.has(503))) return `a fault of ours: ${status}`;
  if (status >= 400 && inside.test(withoutEcho(text, request))) return `${status} shows the inside`;
  if (status === 429 && !/^[1-9]\d*$/.test(String(headers['retry-after']))) return '429 without Retry-After';
  if (status === 405 && headers.allow === undefined && method !== 'CONNECT') return '405 without Allow';
  const isOwn = request.wire === undefined && method === operation.method;
  if (isOwn && !operation.answers.has(status) && !beforeRoutes.includes(status)) return `${status} is not documented`;
  if (method === 'HEAD') return undefined;
  if (text === '') {
    const mayBeEmpty = status < 400 || (operation.answers.has(status) && operation.answers.get(status) === undefined);
    return mayBeEmpty ? undefined : `${status} without a body`;
  }
  const type = String(headers['content-type']);
  if (!/json/.test(type)) return status < 400 ? undefined : `${status} as ${type}`;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `${status} with a body that is no JSON`;
  }
  const shapes = status < 400 ? (isOwn ? [operation.answers.get(status)] : []) : refusalShapes(request, status);
  const known = shapes.filter((shape) => shape !== undefined);
  return known.length === 0 || known.some((shape) => Check(shape as never, body))
    ? undefined
    : `${status} of another shape`;
}

/** An answer may repeat what was asked. */
function withoutEcho(text: string, { body, path }: FuzzRequest): string {
  return inside.test(`${String(body)}${path}${decode(path)}`) ? '' : text;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function refusalShapes({ operation, path, method, wire }: FuzzRequest, status: number): (Shape | undefined)[] {
  // What no route was found for, and what is refused before one is looked for.
  const isOther = wire !== undefined || method !== operation.method;
  const own = operation.answers.get(status);
  const refusals = [...operation.answers].flatMap(([known, shape]) => (known >= 400 && shape ? [shape] : []));
  const shapes = own && !isOther ? [own] : refusals;
  if (isOther && operation.schemes.includes('bearer')) shapes.push(gateway);
  if (status === 404 || isOther) shapes.push(unknownPath);
  if (isOther || [414, 417, 421, 431].includes(status) || (status === 400 && isUnroutable(path))) shapes.push(problem);
  return shapes;
}

/** Bytes that are no HTTP/1.1 have no route, nor has a path that is no percent-encoded UTF-8. */
const isUnroutable = (path: string): boolean => /%/.test(path);

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema?: Shape };
type Content = Record<string, { schema?: Shape & { $ref?: string } }>;
type Described = {
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content?: Content };
  responses?: Record<string, { content?: Content }>;
};

/** A route as the server's own document describes it. */
export type Operation = {
  name: string;
  method: string;
  path: string;
  tag: string;
  /** Names of the schemes it takes; empty for a route that asks for no credentials. */
  schemes: string[];
  parameters: Parameter[];
  body: Shape | undefined;
  /** The name of the body's shape. */
  bodyName: string | undefined;
  isForm: boolean;
  /** By status. Undefined where the document says nothing of the body. */
  answers: Map<number, Shape | undefined>;
};

type Document = { paths: Record<string, Record<string, Described>>; components: { schemas: Record<string, unknown> } };

/** Every route of an OpenAPI document, in its order; what its shapes refer to stands in them. */
export function readOperations(document: Document): Operation[] {
  const { schemas } = document.components;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...toOperation({ path, method: method.toUpperCase() }, resolve(described, schemas) as Described),
      bodyName: nameOf(Object.values(described.requestBody?.content ?? {})[0]?.schema),
    })),
  );
}

const place = '#/components/schemas/';
const nameOf = (shape: { $ref?: string } | undefined): string | undefined => shape?.$ref?.slice(place.length);

/** No shape of the document refers to itself. */
function resolve(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, schemas));
  if (value === null || typeof value !== 'object') return value;
  const { $ref, ...said } = value as { $ref?: unknown };
  if (typeof $ref === 'string' && $ref.startsWith(place))
    return { ...(resolve(schemas[$ref.slice(place.length)], schemas) as object), ...said };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, schemas)]));
}

function toOperation(
  { path, method }: { path: string; method: string },
  { tags = [], security = [], parameters = [], requestBody, responses = {} }: Described,
): Omit<Operation, 'bodyName'> {
  const content = requestBody?.content ?? {};
  const isForm = content['application/x-www-form-urlencoded'] !== undefined;
  return {
    name: `${method} ${path}`,
    method,
    path,
    tag: tags[0] ?? '',
    schemes: security.flatMap((scheme) => Object.keys(scheme)),
    parameters,
    body: Object.values(content)[0]?.schema,
    isForm,
    answers: new Map(
      Object.entries(responses).map(([status, { content: body = {} }]) => [
        Number(status),
        anyOf(Object.values(body).map(({ schema }) => schema)),
      ]),
    ),
  };
}

/** A status may come in two media types, each with its shape. */
function anyOf(shapes: (Shape | undefined)[]): Shape | undefined {
  const [first, ...others] = shapes.filter((shape) => shape !== undefined);
  return first === undefined || others.length === 0 ? first : ({ anyOf: [first, ...others] } as Shape);
}
