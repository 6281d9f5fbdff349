import type { Node } from './shapes.ts';

/**
 * Returns the document in OpenAPI 3.0.3, for tools that do not read 3.1. Types that may be null become `nullable`, a description
 * next to a reference moves around it, and the webhooks, which 3.0 has no place for, become the extension `x-webhooks`.
 */
export function convertTo30(document: Node): Node {
  const { webhooks, ...rest } = structuredClone(document);
  const { identifier, ...license } = (rest.info as { license: Node }).license;
  const info = {
    ...(rest.info as Node),
    license: { ...license, url: `https://spdx.org/licenses/${String(identifier)}.html` },
  };
  const converted = convert({ ...rest, info }) as Node;
  return { ...converted, openapi: '3.0.3', 'x-webhooks': convert(webhooks) };
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  if (value === null || typeof value !== 'object') return value;
  const node: Node = {};
  for (const [name, member] of Object.entries(value))
    node[name] = name === 'example' || name === 'examples' || name === 'default' ? member : convert(member);
  return convertSchema(node);
}

const isNull = (schema: unknown): boolean => (schema as Node).type === 'null';

function convertSchema(node: Node): Node {
  if (typeof node.$ref === 'string' && Object.keys(node).length > 1) {
    const { $ref, ...beside } = node;
    return { ...beside, allOf: [{ $ref }] };
  }
  if (Array.isArray(node.type)) return convertTypes(node, node.type as string[]);
  for (const union of ['anyOf', 'oneOf']) {
    const members = node[union];
    if (!Array.isArray(members) || !members.some(isNull)) continue;
    const { [union]: _members, ...beside } = node;
    return { ...beside, nullable: true, [union]: members.filter((member) => !isNull(member)) };
  }
  if ('const' in node) {
    const { const: only, ...beside } = node;
    return { ...beside, enum: [only] };
  }
  return node;
}

function convertTypes(node: Node, types: readonly string[]): Node {
  const [some, isNullable] = [types.filter((type) => type !== 'null'), types.includes('null')];
  const nullable = isNullable ? { nullable: true } : {};
  const { type: _types, ...beside } = node;
  if (some.length === 1) return { ...beside, type: some[0], ...nullable };
  return { ...beside, ...nullable, anyOf: some.map((type) => ({ type, ...(type === 'array' ? { items: {} } : {}) })) };
}
