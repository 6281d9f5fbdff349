import type { Shape } from '../http/body-arbitrary.ts';

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema?: Shape };
type Content = Record<string, { schema?: Shape }>;
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
  isForm: boolean;
  /** By status. Undefined where the document says nothing of the body. */
  answers: Map<number, Shape | undefined>;
};

/** Every route of an OpenAPI document, in its order. */
export function readOperations(document: { paths: Record<string, Record<string, Described>> }): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      toOperation({ path, method: method.toUpperCase() }, described),
    ),
  );
}

function toOperation(
  { path, method }: { path: string; method: string },
  { tags = [], security = [], parameters = [], requestBody, responses = {} }: Described,
): Operation {
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
        Object.values(body)[0]?.schema,
      ]),
    ),
  };
}
