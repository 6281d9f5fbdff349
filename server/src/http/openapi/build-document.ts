import { spellAbbreviation } from '../../domain/abbreviation.ts';
import { addExamples } from './add-examples.ts';
import type { Example } from './add-examples.ts';

/** A part of a JSON Schema or of the document around it; all of it is JSON. */
type Node = { [member: string]: unknown };
type Union = { oneOf: Node[]; discriminator?: object } | { anyOf: Node[] };

type Building = {
  /** The schemas that have a name, by it. */
  schemas: Map<string, Node>;
  /** The vendor's abbreviation, in capitals. */
  abbreviation: string;
};

/**
 * The document as generators of clients want it, from what Fastify's plugin makes of the routes: every shape with a name
 * stands once and is referred to, lists of words are enums, alternatives that are objects exclude each other, and header
 * names have the abbreviation of the installation.
 *
 * @throws Error for two different shapes of one name
 */
export function buildDocument(
  raw: object,
  { headerPrefix, examples = {} }: { headerPrefix: string; examples?: Record<string, Example> },
): { [member: string]: unknown } {
  const document = JSON.parse(JSON.stringify(raw)) as Node;
  const building: Building = { schemas: new Map(), abbreviation: headerPrefix.toUpperCase() };
  for (const part of ['paths', 'webhooks']) document[part] = build(document[part] ?? {}, building);
  const nameOf = (name: string): string => withAbbreviation(name, building);
  addExamples([document.paths, document.webhooks] as Parameters<typeof addExamples>[0], {
    // They were made at an installation with the neutral abbreviation.
    examples: JSON.parse(spellAbbreviation(JSON.stringify(examples), headerPrefix)) as typeof examples,
    nameOf,
  });
  const schemas = [...building.schemas].sort(([one], [other]) => (one < other ? -1 : 1));
  document.components = { ...(document.components as Node), schemas: Object.fromEntries(schemas) };
  return document;
}

/** Depth first, so that what a shape holds has been lifted when the shape itself is. */
function build(value: unknown, building: Building): unknown {
  if (Array.isArray(value)) return value.map((item) => build(item, building));
  if (value === null || typeof value !== 'object') return value;
  const node: Node = {};
  for (const [name, member] of Object.entries(value)) {
    // What an example says is nobody's schema.
    const built = name === 'example' || name === 'examples' ? member : build(member, building);
    node[withAbbreviation(name, building)] = built;
  }
  for (const text of ['description', 'summary'])
    if (typeof node[text] === 'string') node[text] = spellAbbreviation(node[text], building.abbreviation);
  if (node.in === 'header') node.name = withAbbreviation(String(node.name), building);
  return lift(simplify(node, building), building);
}

const withAbbreviation = (name: string, { abbreviation }: Building): string =>
  /^(?:X-)?\*-/.test(name) ? name.replace('*', abbreviation) : name;

function simplify(node: Node, building: Building): Node {
  const { anyOf, ...rest } = node;
  return Array.isArray(anyOf) ? { ...rest, ...simplifyUnion(anyOf as Node[], building) } : node;
}

function simplifyUnion(members: Node[], building: Building): Node | Union {
  const words = members.map(wordOf);
  if (words.every((word) => word !== undefined)) return { type: 'string', enum: words };
  const [nothing, some] = [members.filter(isNull), members.filter((member) => !isNull(member))];
  const [only] = some;
  if (nothing.length === 1 && some.length === 1 && typeof only!.type === 'string' && only!.enum === undefined)
    return { ...only, type: [only!.type, 'null'] };
  if (!members.every(({ $ref }) => $ref !== undefined)) return { anyOf: members };
  const discriminator = findDiscriminator(members, building);
  return { oneOf: members, ...(discriminator ? { discriminator } : {}) };
}

const place = '#/components/schemas/';

/** The member by whose word the alternatives are told apart, such as `status` of a push. */
function findDiscriminator(members: Node[], { schemas }: Building): object | undefined {
  const shapes = members.map(
    ({ $ref }) => schemas.get(String($ref).slice(place.length))?.properties as Node | undefined,
  );
  const wordsOf = (name: string) => shapes.map((properties) => wordOf((properties?.[name] ?? {}) as Node));
  const propertyName = Object.keys(shapes[0] ?? {}).find((name) => {
    const words = wordsOf(name);
    return words.every((word) => word !== undefined) && new Set(words).size === members.length;
  });
  if (propertyName === undefined) return undefined;
  const mapping = wordsOf(propertyName).map((word, index) => [word, members[index]!.$ref]);
  return { propertyName, mapping: Object.fromEntries(mapping) as object };
}

function wordOf({ type, const: word, enum: words }: Node): unknown {
  if (type !== 'string') return undefined;
  return typeof word === 'string' ? word : Array.isArray(words) && words.length === 1 ? words[0] : undefined;
}

const isNull = ({ type }: Node): boolean => type === 'null';

/** A shape with a name becomes a reference; what is said of it in this place only stays beside the reference. */
function lift(node: Node, { schemas }: Building): Node {
  const { title, ...shape } = node;
  if (typeof title !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(title)) return node;
  const known = schemas.get(title);
  const { description, ...plain } = shape;
  if (known === undefined) schemas.set(title, shape);
  else {
    const { description: _described, ...plainKnown } = known;
    if (JSON.stringify(plainKnown) !== JSON.stringify(plain))
      throw new Error(`two different shapes are named ${title}`);
  }
  const isSaidHere = description !== undefined && known !== undefined && known.description !== description;
  return { $ref: `${place}${title}`, ...(isSaidHere ? { description } : {}) };
}
