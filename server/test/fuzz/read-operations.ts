import type { Shape } from '../http/body-arbitrary.ts';

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
