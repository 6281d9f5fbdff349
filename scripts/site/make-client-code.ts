import { operations } from '../../client/src/generated/operations.ts';

type Row = { path: string; query: readonly string[] };
/** An executed example, as the document has it. */
export type ClientCall = { operationId: string; parameters: Record<string, unknown>; body?: unknown };

/** The languages of the examples next to curl, in the order of the pages. */
export const clientLanguages = [
  { name: 'TypeScript', fence: 'typescript' },
  { name: 'Python', fence: 'python' },
  { name: 'Go', fence: 'go' },
  { name: 'PHP', fence: 'php' },
] as const;
type LanguageName = (typeof clientLanguages)[number]['name'];

/**
 * Returns the call of an example with the client of each language; undefined for operations that the clients do not call alone:
 * pushes of other versions, tokens, and the API of apps.
 */
export function makeClientCode({
  operationId,
  parameters,
  body,
}: ClientCall): Record<LanguageName, string> | undefined {
  const row = (operations as Record<string, Row>)[operationId];
  if (row === undefined || /^\/(?:v1\/app|segment)\//.test(row.path)) return undefined;
  if (operationId === 'sendPushV21') return makePushes(body);
  if (operationId.startsWith('sendPush')) return undefined;
  const isOwn = (name: string): boolean => row.query.includes(name) || row.path.includes(`{${name}}`);
  const given = Object.fromEntries(
    Object.entries(parameters).filter(([name]) => isOwn(name) && name !== 'app_id' && name !== 'workspace_id'),
  );
  const hasParameters = Object.keys(given).length > 0;
  const words = { id: operationId, ...(hasParameters ? { given } : {}), ...(body === undefined ? {} : { body }) };
  // Parameters have types in TypeScript only.
  const asText = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const others = { ...words, ...(hasParameters ? { given: asText } : {}) };
  return { TypeScript: inTypeScript(words), Python: inPython(others), Go: inGo(others), PHP: inPhp(others) };
}

type Words = { id: string; given?: Record<string, unknown>; body?: unknown };

function makePushes(push: unknown): Record<LanguageName, string> {
  return {
    TypeScript: `await carillon.push.send(${literals.TypeScript(push, '')});`,
    Python: `carillon.send_push(${literals.Python(push, '')})`,
    Go: `sent, err := client.SendPush(ctx, carillon.Push${literals.Go(push, '').slice('map[string]any'.length)}, "")`,
    PHP: `$reply = $client->sendPush(${literals.PHP(push, '')});`,
  };
}

function inTypeScript({ id, given, body }: Words): string {
  const members = { ...(given ? { parameters: given } : {}), ...(body === undefined ? {} : { body }) };
  return `const reply = await carillon.call('${id}', ${literals.TypeScript(members, '')});`;
}

function inPython({ id, given, body }: Words): string {
  const words = [
    `"${id}"`,
    ...(given ? [literals.Python(given, '')] : []),
    ...(body === undefined ? [] : [`${given ? '' : 'body='}${literals.Python(body, '')}`]),
  ];
  return `reply = carillon.call(${words.join(', ')})`;
}

function inGo({ id, given, body }: Words): string {
  const fields = [
    ...(given ? [`\tParameters: ${literals.Go(given, '\t').replace('map[string]any', 'map[string]string')},\n`] : []),
    ...(body === undefined ? [] : [`\tBody: ${literals.Go(body, '\t')},\n`]),
  ];
  const call = fields.length === 0 ? 'carillon.Call{}' : `carillon.Call{\n${fields.join('')}}`;
  return `reply, err := client.Call(ctx, carillon.${id[0]!.toUpperCase()}${id.slice(1)}, ${call})`;
}

function inPhp({ id, given, body }: Words): string {
  const words = [
    `'${id}'`,
    ...(given ? [literals.PHP(given, '')] : []),
    ...(body === undefined ? [] : [`${given ? '' : 'body: '}${literals.PHP(body, '')}`]),
  ];
  return `$reply = $client->call(${words.join(', ')});`;
}

type Syntax = {
  text: (value: string) => string;
  words: { true: string; false: string; null: string };
  member: (name: string, value: string) => string;
  object: [string, string];
  list: [string, string];
  emptyObject: string;
  indent: string;
};

const doubleQuoted = (value: string): string => JSON.stringify(value);
const singleQuoted = (value: string): string => {
  const escaped = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped}'`;
};
const plainWords = { true: 'true', false: 'false', null: 'null' };
const syntaxes: Record<LanguageName, Syntax> = {
  TypeScript: {
    text: singleQuoted,
    words: plainWords,
    member: (name, value) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : singleQuoted(name)}: ${value}`,
    object: ['{', '}'],
    list: ['[', ']'],
    emptyObject: '{}',
    indent: '  ',
  },
  Python: {
    text: doubleQuoted,
    words: { true: 'True', false: 'False', null: 'None' },
    member: (name, value) => `${doubleQuoted(name)}: ${value}`,
    object: ['{', '}'],
    list: ['[', ']'],
    emptyObject: '{}',
    indent: '    ',
  },
  Go: {
    text: doubleQuoted,
    words: { ...plainWords, null: 'nil' },
    member: (name, value) => `${doubleQuoted(name)}: ${value}`,
    object: ['map[string]any{', '}'],
    list: ['[]any{', '}'],
    emptyObject: 'map[string]any{}',
    indent: '\t',
  },
  PHP: {
    // Single quotes know no escape of a line end, and a dollar sign in double quotes begins a variable.
    text: (value) =>
      /[\n\r\t\\]/.test(value) ? doubleQuoted(value).replaceAll('$', '\\$') : `'${value.replaceAll("'", "\\'")}'`,
    words: plainWords,
    member: (name, value) => `'${name}' => ${value}`,
    object: ['[', ']'],
    list: ['[', ']'],
    emptyObject: 'new \\stdClass()',
    indent: '    ',
  },
};

/** Writes a value of JSON as a literal of the language, which continues lines that begin with `indent`. */
function makeLiteral({ text, words, member, object, list, emptyObject, indent: step }: Syntax) {
  return function write(value: unknown, indent: string): string {
    if (typeof value === 'string') return text(value);
    if (value === null || typeof value === 'boolean') return words[String(value) as keyof typeof words];
    if (typeof value === 'number') return String(value);
    const inner = indent + step;
    if (Array.isArray(value)) {
      if (value.every((one) => typeof one !== 'object' || one === null))
        return `${list[0]}${value.map((one) => write(one, inner)).join(', ')}${list[1]}`;
      return `${list[0]}\n${value.map((one) => `${inner}${write(one, inner)},\n`).join('')}${indent}${list[1]}`;
    }
    const members = Object.entries(value as object);
    if (members.length === 0) return emptyObject;
    const lines = members.map(([name, one]) => `${inner}${member(name, write(one, inner))},\n`);
    return `${object[0]}\n${lines.join('')}${indent}${object[1]}`;
  };
}

const literals = Object.fromEntries(
  Object.entries(syntaxes).map(([name, syntax]) => [name, makeLiteral(syntax)]),
) as Record<LanguageName, ReturnType<typeof makeLiteral>>;
