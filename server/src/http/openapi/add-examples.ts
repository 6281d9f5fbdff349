import { isDeepStrictEqual } from 'node:util';

/** A call of an operation that was made and what was said: one for each, made by a test at a real node. */
export type Example = {
  /** Of the path, the query and the headers. */
  parameters?: Record<string, string>;
  body?: unknown;
  status?: number;
  answer?: unknown;
};

type Media = Record<string, object>;
type Operation = {
  operationId?: string;
  parameters?: { name: string; schema?: { type?: unknown } }[];
  requestBody?: { content: Media };
  responses: Record<string, { content?: Media }>;
};
type Paths = Record<string, Record<string, Operation>>;

/** Puts the examples where a reader of the document meets them. */
export function addExamples(
  places: readonly Paths[],
  { examples, nameOf }: { examples: Record<string, Example>; nameOf: (parameter: string) => string },
): void {
  for (const operation of places.flatMap((paths) => Object.values(paths).flatMap((path) => Object.values(path)))) {
    const example = examples[operation.operationId ?? ''];
    if (!example) continue;
    const given = new Map(Object.entries(example.parameters ?? {}).map(([name, value]) => [nameOf(name), value]));
    for (const parameter of operation.parameters ?? []) {
      const value = given.get(parameter.name);
      if (value === undefined) continue;
      Object.assign(parameter, { example: parameter.schema?.type === 'integer' ? Number(value) : value });
    }
    if (example.body !== undefined) exemplify(operation.requestBody?.content, example.body);
    if (example.answer === undefined) continue;
    const { content } = operation.responses[String(example.status)] ?? {};
    // What was there already (200) is shown as what was made (201).
    for (const [status, response] of Object.entries(operation.responses))
      if (response.content === content || (status.startsWith('2') && isSameShape(response.content, content)))
        exemplify(response.content, example.answer);
  }
}

function isSameShape(one: Media | undefined, other: Media | undefined): boolean {
  const shapes = (content: Media | undefined) =>
    Object.values(content ?? {}).map((media) => (media as { schema?: unknown }).schema);
  return isDeepStrictEqual(shapes(one), shapes(other));
}

function exemplify(content: Media | undefined, example: unknown): void {
  for (const media of Object.values(content ?? {})) Object.assign(media, { example });
}
