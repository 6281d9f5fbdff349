import { errorRegistry } from '../../server/src/domain/errors.ts';
import type { Page } from './list-pages.ts';
import { addressOf } from './list-pages.ts';
import { fillCall, makeCurl, noValues } from './browser/make-curl.ts';
import type { Call } from './browser/make-curl.ts';
import { clientLanguages, makeClientCode } from './make-client-code.ts';
import type { ClientCall } from './make-client-code.ts';
import { listMembers, listReferences, nameType } from './render-shape.ts';
import type { Schema } from './render-shape.ts';

type Content = Record<string, { schema?: Schema; example?: unknown }>;
type Parameter = {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};
export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  security?: Record<string, unknown>[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
export type ApiDocument = {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
type Placed = { method: string; path: string; operation: Operation; alias?: Placed | undefined };

/**
 * Renders a page for each family of routes, one for shapes that several families share, and every executed example as a call.
 */
export function renderApiPages(document: ApiDocument): { pages: Page[]; calls: Record<string, Call> } {
  const all = [...place(document.paths), ...place(document.webhooks)];
  const families = document.tags.map(({ name, description }) => ({
    ...{ name, description },
    operations: all.filter(({ operation }) => operation.tags[0] === name),
  }));
  const homes = findHomes(document, families);
  const link = (text: string): string =>
    text.replace(
      /\{(\w+)\}/g,
      (_whole, name: string) => `[${name}](${homes.get(name) ?? 'shapes'}.md#${name.toLowerCase()})`,
    );
  const shapesOf = (home: string): string[] => {
    const names = [...homes].filter(([, at]) => at === home).map(([name]) => name);
    return names.sort().flatMap((name) => [`### ${name}`, renderShape(document.components.schemas[name]!, link)]);
  };
  const pages = families.map(({ name, description, operations }) => {
    const shapes = shapesOf(slug(name));
    const parts = operations
      .filter((placed) => !isAlias(placed))
      .flatMap((placed) => renderOperation({ ...placed, alias: findAlias(placed, operations) }, link));
    return makePage(slug(name), [
      `# ${name}`,
      `${description}.`,
      ...parts,
      ...(shapes.length > 0 ? ['## Shapes', ...shapes] : []),
    ]);
  });
  const contents = families.map(({ name, description }) => `- [${name}](${slug(name)}.md): ${description}`);
  const overview = makePage('README', [
    '# API',
    'Made of the description that a node serves at `/openapi.json` and `/openapi.yaml` (OpenAPI 3.1), which is made of the routes themselves. Each example was executed at a node, and its reply is the one that came. On a sandbox every example can be filled with your own ids and run from its page. The examples in TypeScript, Python, Go and PHP use [the clients](../clients.md): `carillon` or `client` is a client with the address, the workspace and the keys.',
    contents.join('\n'),
    'Errors are told in [one list](../errors.md), limits in [another](../limits.md); routes in short [on one page](../routes.md).',
  ]);
  const shared = makePage('shapes', [
    '# Shared shapes',
    'What several families of routes have in common.',
    ...shapesOf('shapes'),
  ]);
  const made = all.flatMap((placed) => makeCall(placed));
  return { pages: [overview, ...pages, shared], calls: Object.fromEntries(made) };
}

const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-');
const place = (paths: ApiDocument['paths']): Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

function makePage(name: string, parts: string[]): Page {
  const source = `docs/api/${name}.md`;
  return {
    source,
    address: addressOf(source),
    section: 'API',
    title: parts[0]!.slice(2),
    text: `${parts.join('\n\n')}\n`,
  };
}

/** A shape that only one family uses is on the page of that family. */
function findHomes(
  { components }: ApiDocument,
  families: { name: string; operations: Placed[] }[],
): Map<string, string> {
  const homes = new Map<string, string>();
  for (const { name, operations } of families) {
    const waiting = listReferences(operations);
    const seen = new Set(waiting);
    for (let shape = waiting.pop(); shape !== undefined; shape = waiting.pop()) {
      const home = homes.get(shape);
      homes.set(shape, home === undefined || home === slug(name) ? slug(name) : 'shapes');
      for (const inner of listReferences(components.schemas[shape]))
        if (!seen.has(inner)) waiting.push(seen.add(inner) && inner);
    }
  }
  return homes;
}

/** The second path of a route, from an older interface (decision D3). */
const aliasSuffix = 'CoreServices';
const isAlias = ({ operation }: Placed): boolean => operation.operationId.endsWith(aliasSuffix);
const findAlias = ({ operation }: Placed, all: Placed[]): Placed | undefined =>
  all.find((other) => other.operation.operationId === operation.operationId + aliasSuffix);

function renderOperation({ method, path, operation, alias }: Placed, link: (text: string) => string): string[] {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const isCallback = !path.startsWith('/');
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const [, call] = makeCall({ method, path, operation })[0] ?? [];
  const parts = [
    `## ${summary}`,
    isCallback ? '' : `\`${method} ${path}\`${alias ? `, also \`${alias.path}\`` : ''}`,
    escape(description ?? ''),
    renderAccess(operation),
  ];
  if (parameters.length > 0)
    parts.push(
      table(
        ['Parameter', 'In', 'Type', 'Description'],
        parameters.map((one) => [
          `\`${one.name}\`${one.required ? ' *' : ''}`,
          one.in,
          link(nameType(one.schema)),
          one.description ?? '',
        ]),
      ),
    );
  if (body) {
    parts.push(`**Body** (\`${bodyType}\`): ${body.schema ? link(nameType(body.schema)) : 'bytes'}`);
    if (body.schema && !body.schema.$ref) parts.push(renderShape(body.schema, link));
    if (isCallback) parts.push(fence('json', body.example));
  }
  if (call)
    parts.push(
      `\`\`\`sh call=${operation.operationId}\n${makeCurl(fillCall(call, { values: noValues }))}\n\`\`\``,
      ...renderClientCode(operation),
    );
  for (const [status, { content }] of Object.entries(responses)) {
    const example = Object.values(content ?? {})[0]?.example;
    if (example !== undefined) parts.push(`**Reply** ${status}:`, fence('json', example));
  }
  parts.push(
    table(
      ['Status', 'When', 'Reply'],
      Object.entries(responses).map(([status, { description: when, content }]) => {
        const schema = Object.values(content ?? {})[0]?.schema;
        return [status, linkErrors(when), schema ? link(nameType(schema)) : ''];
      }),
    ),
  );
  return parts.filter((part) => part !== '');
}

const keyNames: Record<string, string> = {
  bearer: 'a Bearer token',
  dataKey: 'Basic with a data key',
  pushKey: 'Basic with a push key',
  campaignsKey: 'Basic with a campaigns key',
};

function renderAccess({ security = [], tags }: Operation): string {
  const isSigned = tags[0] === 'Push';
  const ways = security.flatMap((way) => Object.keys(way).map((name) => keyNames[name] ?? name));
  if (isSigned) return 'Who may call: whoever signs with a push key; [how](../concepts.md#signing-a-push).';
  return ways.length === 0 ? '' : `Who may call: ${ways.join(', or ')}.`;
}

/** The same example with the clients, folded up: a reader uses one language. */
function renderClientCode(operation: Operation): string[] {
  const code = makeClientCode(readClientCall(operation));
  if (code === undefined) return [];
  return clientLanguages.flatMap(({ name, fence: language }) => [
    `<details><summary>${name}</summary>`,
    fence(language, code[name]),
    '</details>',
  ]);
}

/** Returns the example of an operation as a client calls it. */
export function readClientCall({ operationId, parameters = [], requestBody }: Operation): ClientCall {
  const shown = parameters.filter(({ in: place, example }) => place !== 'header' && example !== undefined);
  const body = Object.values(requestBody?.content ?? {})[0]?.example;
  return {
    operationId,
    parameters: Object.fromEntries(shown.map(({ name, example }) => [name, example])),
    ...(body === undefined ? {} : { body }),
  };
}

function makeCall({ method, path, operation }: Placed): [string, Call][] {
  const { parameters = [], requestBody, responses, security = [], operationId } = operation;
  const [type, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const isShown = body?.example !== undefined || parameters.some(({ example }) => example !== undefined);
  const isOpen = parameters.length === 0 && requestBody === undefined && responses['200'] !== undefined;
  if (!path.startsWith('/') || (!isShown && !isOpen)) return [];
  const given = (where: string) => parameters.filter((one) => one.in === where && one.example !== undefined);
  const filled = given('path').reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  const query = new URLSearchParams(given('query').map(({ name, example }) => [name, String(example)])).toString();
  const key = security.flatMap((way) => Object.keys(way)).find((name) => name.endsWith('Key'));
  const call: Call = {
    method,
    path: `${filled}${query === '' ? '' : `?${query}`}`,
    headers: Object.fromEntries(given('header').map(({ name, example }) => [name, String(example)])),
    ...(key ? { key: key as NonNullable<Call['key']> } : {}),
    ...(body?.example === undefined ? {} : { body: body.example }),
    ...(type === 'application/x-www-form-urlencoded' ? { isForm: true } : {}),
  };
  return [[operationId, call]];
}

function renderShape(schema: Schema, link: (text: string) => string): string {
  const rows = listMembers(schema);
  const about = schema.description ? `${escape(schema.description)}.\n\n` : '';
  if (rows.length === 0) return `${about}${link(nameType(schema))}`;
  const lines = rows.map(({ name, isRequired, type, bounds, description }) => [
    `\`${name}\`${isRequired ? ' *' : ''}`,
    link(type),
    [bounds, description].filter((text) => text !== '').join('. '),
  ]);
  return `${about}${table(['Member (* required)', 'Type', 'Bounds and meaning'], lines)}`;
}

function linkErrors(when: string): string {
  return when.replace(/\b[A-Z][A-Z0-9_]+\b/g, (name) =>
    Object.hasOwn(errorRegistry, name) ? `[\`${name}\`](../errors.md#${name})` : name,
  );
}

const escape = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('*', '\\*');
const fence = (language: string, value: unknown): string =>
  `\`\`\`${language}\n${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n\`\`\``;

function table(titles: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(titles), `|${titles.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
