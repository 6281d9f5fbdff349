import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describePublicRoutes } from './list-routes.ts';

const heading = '// Generated from the OpenAPI document by `npm run client:types`; edits are lost.\n\n';

/** The folder of the client's generated types. */
export const clientTypesFolder = join(import.meta.dirname, '..', 'client', 'src', 'generated');

/** A part of a JSON Schema in the document. */
type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  oneOf?: Schema[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
};
type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema };
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};

/**
 * Renders the document in TypeScript: its shapes, and every operation with its path, credential, parameters, body and response.
 * Forms and pages are left out: tokens have their own code, and pages are for browsers.
 */
export async function renderClientTypes(): Promise<Record<string, string>> {
  const { document } = await describePublicRoutes();
  const schemas = document.components.schemas as Record<string, Schema>;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as unknown as Record<string, Operation>)
      .filter(([, operation]) => isJson(operation))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const used = new Set<string>();
  const table = operations.map(({ path, method, operation }) => renderRow({ path, method, operation }));
  const types = operations.map(({ operation }) => renderOperation(operation, used));
  const style = { ...(await resolveConfig(join(clientTypesFolder, 'shapes.ts'))), parser: 'typescript' };
  const declared = Object.entries(schemas).map(
    ([name, schema]) => `${comment(schema)}export type ${name} = ${print(schema)};\n`,
  );
  return {
    'shapes.ts': await format(heading + declared.join('\n'), style),
    'operations.ts': await format(
      `${heading}import type { ${[...used].sort().join(', ')} } from './shapes.ts';\n\n` +
        `/** How each operation is called. \`*\` stands for the abbreviation of the installation. */\n` +
        `export const operations = {\n${table.join('\n')}\n} as const;\n\n` +
        `/** What each operation takes and gives. What the client fills in itself is no parameter. */\n` +
        `export type Operations = {\n${types.join('\n')}\n};\n`,
      style,
    ),
  };
}

function isJson({ requestBody, responses }: Operation): boolean {
  const taken = Object.keys(requestBody?.content ?? { 'application/json': {} });
  const given = Object.keys(succeeded(responses)?.content ?? { 'application/json': {} });
  const isOne = [taken, given].every((types) => types.includes('application/json'));
  return succeeded(responses) !== undefined && isOne;
}

function succeeded(responses: Operation['responses']): Operation['responses'][string] | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
}

/** True for a parameter that the client adds itself: its workspace, a signature or an idempotency key. */
function isFilledIn({ name, in: place }: Parameter): boolean {
  return place === 'header' || name === 'app_id' || name === 'workspace_id';
}

function renderRow({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { parameters = [], security, tags, operationId } = operation;
  const schemes = security.flatMap((scheme) => Object.keys(scheme));
  const key =
    ['dataKey', 'campaignsKey', 'pushKey'].find((scheme) => schemes.includes(scheme))?.replace('Key', '') ?? 'none';
  const names = (place: string): string[] => parameters.filter((one) => one.in === place).map(({ name }) => name);
  const headers = names('header')
    .filter((name) => /APPKEY$|DBNAME$|^Idempotency-Key$/.test(name))
    .map((name) => name.replace('SVC', '*'));
  return `${operationId}: ${JSON.stringify({ method, path, family: tags[0], key, query: names('query'), headers })},`;
}

function renderOperation(operation: Operation, used: Set<string>): string {
  const own = (operation.parameters ?? []).filter((parameter) => !isFilledIn(parameter));
  const parameters = own.map(
    ({ name, required, schema }) => `${JSON.stringify(name)}${required === true ? '' : '?'}: ${print(schema, used)};`,
  );
  const bodyOf = (content?: Record<string, { schema: Schema }>): string => {
    const schema = content?.['application/json']?.schema;
    return schema === undefined ? 'undefined' : print(schema, used);
  };
  return `/** ${operation.summary} */
    ${operation.operationId}: {
      parameters: ${parameters.length === 0 ? 'Record<never, never>' : `{ ${parameters.join(' ')} }`};
      body: ${bodyOf(operation.requestBody?.content)};
      reply: ${bodyOf(succeeded(operation.responses)?.content)};
    };`;
}

function print(schema: Schema, used?: Set<string>): string {
  const within = (one: Schema): string => print(one, used);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    used?.add(name);
    return name;
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(' | ');
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return alternatives.map((one) => `(${within(one)})`).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => `(${within({ ...schema, type })})`).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${schema.items === undefined ? 'unknown' : within(schema.items)})[]`;
    case 'object':
      return printObject(schema, within);
    case undefined:
      return 'unknown';
    default:
      throw new Error(`no type is printed for ${JSON.stringify(schema)}`);
  }
}

function printObject(
  { properties = {}, required = [], additionalProperties }: Schema,
  within: (schema: Schema) => string,
): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${within(schema)};`,
  );
  const more =
    typeof additionalProperties === 'object'
      ? `Record<string, ${within(additionalProperties)}>`
      : additionalProperties === true || members.length === 0
        ? 'Record<string, unknown>'
        : undefined;
  if (members.length === 0) return more!;
  return `{\n${members.join('\n')}\n}${more === undefined ? '' : ` & ${more}`}`;
}

function comment({ description }: Schema): string {
  return description === undefined ? '' : `\n/** ${description.replaceAll('*/', '*\\/')} */\n`;
}
