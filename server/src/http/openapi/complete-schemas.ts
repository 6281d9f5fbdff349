import { spellAbbreviation } from '../../domain/abbreviation.ts';
import { memberDescriptions } from './member-descriptions.ts';
import type { Node } from './shapes.ts';

/** Where a member is: its shape, the member around it, and a function that notes which description was used. */
type Place = {
  shape: string;
  around: string;
  describe: (shape: string, around: string, name: string) => string | undefined;
};

/**
 * Describes every member that has no description, and makes schemas that every generator compiles: an object either has named
 * members or a map of typed ones. TypeScript, for example, has no type for an object whose other members differ from the named ones.
 *
 * @returns the keys of the descriptions that were used
 */
export function completeSchemas(document: Node, headerPrefix: string): Set<string> {
  const used = new Set<string>();
  const describe: Place['describe'] = (shape, around, name) => {
    // Names of an installation with another abbreviation are looked up in the neutral spelling.
    const neutral = name.replace(new RegExp(`^${headerPrefix}_`, 'i'), 'svc_');
    const key = [`${around}.${neutral}`, `${shape}.${neutral}`, neutral].find((one) =>
      Object.hasOwn(memberDescriptions, one),
    );
    if (key !== undefined) used.add(key);
    return key === undefined ? undefined : spellAbbreviation(memberDescriptions[key]!, headerPrefix);
  };
  const { schemas } = document.components as { schemas: Record<string, Node> };
  for (const [shape, schema] of Object.entries(schemas)) complete(schema, { shape, around: '', describe });
  for (const part of [document.paths, document.webhooks]) completeOperations(part as Node, describe);
  return used;
}

function completeOperations(paths: Node, describe: Place['describe']): void {
  for (const methods of Object.values(paths) as Record<string, Node>[])
    for (const operation of Object.values(methods)) {
      const shape = String(operation.operationId);
      for (const parameter of (operation.parameters ?? []) as Node[])
        parameter.description ??= describe(shape, '', String(parameter.name));
      complete(operation.requestBody, { shape, around: '', describe });
      complete(operation.responses, { shape, around: '', describe });
    }
}

/** Walks a schema or a part of the document around one. Examples are not schemas. */
function complete(value: unknown, place: Place): void {
  if (Array.isArray(value)) for (const item of value) complete(item, place);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return;
  const node = value as Node;
  if (isMixed(node)) separate(node);
  for (const [name, member] of Object.entries(node)) {
    if (name === 'example' || name === 'examples') continue;
    if (name !== 'properties') complete(member, place);
    else for (const [inner, schema] of Object.entries(member as Node)) completeMember(inner, schema as Node, place);
  }
}

function completeMember(name: string, schema: Node, place: Place): void {
  if (schema.description === undefined) {
    const description = place.describe(place.shape, place.around, name);
    if (description !== undefined) schema.description = description;
  }
  complete(schema, { ...place, around: name });
}

function isMixed({ properties, additionalProperties: others }: Node): boolean {
  const hasNames = properties !== undefined && Object.keys(properties as Node).length > 0;
  return hasNames && typeof others === 'object' && others !== null && Object.keys(others).length > 0;
}

/** Named members of the type of all others become part of the map. Other named members stay, and the map loses its type. */
function separate(node: Node): void {
  const { description: _other, ...others } = node.additionalProperties as Node;
  const members = Object.values(node.properties as Node) as Node[];
  const isAlike = members.every(
    ({ description: _own, ...member }) => JSON.stringify(member) === JSON.stringify(others),
  );
  if (!isAlike) {
    node.additionalProperties = true;
    return;
  }
  const names = Object.keys(node.properties as Node).join(', ');
  node.description = `${typeof node.description === 'string' ? `${node.description}. ` : ''}Among the names: ${names}`;
  delete node.properties;
  delete node.required;
}
