/** A part of a JSON Schema as the document has it. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  [member: string]: unknown;
};

export type Row = { name: string; type: string; bounds: string; isRequired: boolean; description: string };
const place = '#/components/schemas/';

/** Returns the members of a shape as rows; members of an unnamed shape are listed with it, by their path. */
export function listMembers(shape: Schema, path = ''): Row[] {
  const rows: Row[] = [];
  const add = (name: string, member: Schema, isRequired: boolean): void => {
    rows.push({
      ...{ name, isRequired, type: nameType(member), bounds: nameBounds(member) },
      description: member.description ?? '',
    });
    rows.push(...listMembers(member, name));
  };
  for (const [name, member] of Object.entries(shape.properties ?? {}))
    add(path === '' ? name : `${path}.${name}`, member, shape.required?.includes(name) === true);
  if (typeof shape.additionalProperties === 'object' && Object.keys(shape.additionalProperties).length > 0)
    add(path === '' ? '*' : `${path}.*`, shape.additionalProperties, false);
  if (shape.items) rows.push(...listMembers(shape.items, `${path}[]`));
  // Alternatives with members are listed one after the other.
  for (const one of [...(shape.anyOf ?? []), ...(shape.allOf ?? [])]) rows.push(...listMembers(one, path));
  return rows;
}

/** Formats a type for a reader: `string`, `PushGoal[]`, with links to named shapes as `{Name}`. */
export function nameType(schema: Schema): string {
  if (schema.$ref) return `{${schema.$ref.slice(place.length)}}`;
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return [...new Set(alternatives.map(nameType))].join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((word) => `\`${String(word)}\``).join(', ');
  const types = [schema.type ?? 'any'].flat();
  return types.map((type) => (type === 'array' ? `${nameType(schema.items ?? {})}[]` : type)).join(' or ');
}

/** Returns every shape that a shape refers to. */
export function listReferences(schema: unknown): string[] {
  const found = JSON.stringify(schema ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return [...new Set([...found].map(([, name]) => name!))];
}

const between = (least: unknown, most: unknown, unit: string): string => {
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return `at most ${String(most)}${unit}`;
  if (most === undefined) return `at least ${String(least)}${unit}`;
  return least === most ? `${String(most)}${unit}` : `${String(least)} to ${String(most)}${unit}`;
};

function nameBounds(schema: Schema): string {
  const bounds = [
    between(schema.minLength, schema.maxLength, ' characters'),
    between(schema.minimum, schema.maximum, ''),
    between(schema.minItems, schema.maxItems, ' items'),
    schema.format === undefined ? '' : String(schema.format),
    schema.pattern === undefined ? '' : `\`${String(schema.pattern)}\``,
    schema.default === undefined ? '' : `default \`${JSON.stringify(schema.default)}\``,
  ];
  return bounds.filter((text) => text !== '').join(', ');
}
