import { isDeepStrictEqual } from 'node:util';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { spellAbbreviation } from '../../domain/abbreviation.ts';
import { dataCenters } from '../../domain/access/data-centers.ts';
import { splitShapes } from './alternatives.ts';
import { completeSchemas } from './complete-schemas.ts';
import { convertTo30 } from './convert-to-30.ts';
import examples from './examples.json' with { type: 'json' };
import type { Node } from './shapes.ts';
import { makeWebhooks } from './webhooks.ts';

const tags = [
  { name: 'Tokens', description: 'OAuth 2.0 access tokens: issue, refresh, revoke' },
  { name: 'Push', description: 'Create and send push campaigns, v2 and v2.1' },
  { name: 'Segments', description: 'Sets of users, from files, filters or partners' },
  { name: 'Campaigns', description: 'Search campaigns and their executions, V1 (deprecated) and V5' },
  { name: 'Business events', description: 'Events of a business that start campaigns' },
  { name: 'Statistics', description: 'Outcomes of the messages of campaigns' },
  { name: 'Event streams', description: 'Outcomes of messages, posted to addresses of the workspace' },
  { name: 'Journeys', description: 'Graphs of steps through which each user passes alone' },
  { name: 'Data', description: 'Users and devices in' },
  { name: 'Segment source', description: "Messages of Segment's client libraries" },
  { name: 'Apps', description: 'Packages, bundle ids and sites, and defaults for their messages' },
  { name: 'Live Activities', description: 'Live Activities of iPhones: started, updated and ended by push' },
  { name: 'Interactions', description: 'Reports of devices: shown, clicked, closed' },
  { name: 'Callbacks', description: 'Requests that this service posts to addresses given by callers' },
  { name: 'Sandbox', description: 'Inbox, clock and faults of the simulated providers; not in production' },
  { name: 'Health', description: 'Liveness and readiness' },
];

const description = `Open, self-hosted push messaging: access tokens, segments, push campaigns, campaign search.

Header names that carry the service's abbreviation are accepted with the neutral \`SVC\` as well. What is refused before
a route is found (bytes that are not HTTP, a head that is too large or too slow) is answered with Problem Details
(RFC 9457). Each refusal names the errors of \`docs/errors.md\` that have its status.`;

export type Description = Addresses & {
  /** The vendor's abbreviation in header names. */
  headerPrefix: string;
  version: string;
};

/**
 * Serves OpenAPI 3.1 at /openapi.json and /openapi.yaml, generated from the routes' own schemas, and a copy in OpenAPI 3.0 at
 * /openapi-3.0.json for older tools.
 */
export async function describeRoutes(server: FastifyInstance, described: Description): Promise<void> {
  const { servers, serversOf } = describeServers(described);
  // The description is not an API call, so the log omits it.
  server.addHook('onRoute', (route) => {
    if (/^\/openapi[.-]/.test(route.url)) route.config = { ...route.config, isUnrecorded: true };
  });
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Carillon',
        version: described.version,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers,
      tags,
      webhooks: makeWebhooks(described.headerPrefix) as never,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Access token of POST /v1/oauth/token' },
          campaignsKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : campaigns key' },
          pushKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : push key' },
          dataKey: { type: 'http', scheme: 'basic', description: 'Workspace ID : Data key' },
          writeKey: { type: 'http', scheme: 'basic', description: 'Data key as the user name, without a password' },
          appKey: { type: 'http', scheme: 'bearer', description: 'App key, which is public' },
        },
      },
    },
    transform: ({ schema, url }) => {
      const own = serversOf(String(schema?.tags?.[0]));
      return { schema: own ? { ...schema, servers: own } : schema, url };
    },
    transformObject: (made) =>
      buildDocument('openapiObject' in made ? made.openapiObject : {}, { ...described, examples }) as never,
  });
  const hidden = { schema: { hide: true } };
  server.get('/openapi.json', hidden, async () => server.swagger());
  server.get('/openapi-3.0.json', hidden, async () => convertTo30(server.swagger() as unknown as Node));
  server.get('/openapi.yaml', hidden, (_request, reply) =>
    // RFC 9512.
    reply.type('application/yaml; charset=utf-8').send(server.swagger({ yaml: true })),
  );
}

type Addresses = {
  /** The address of this node from outside, if it is configured. */
  publicUrl?: string | undefined;
  /** Domain whose hosts name a data center (decision D1). */
  serviceDomain?: string | undefined;
};

type DescribedServer = {
  url: string;
  description: string;
  variables?: Record<string, { default: string; enum: string[]; description: string }>;
};

/** The host of a family in each data center (the base addresses of the interface); other families have the second host. */
const hosts: Record<string, string> = { Tokens: 'oauth2', Push: 'pushapi' };
const otherHost = 'api';
/** Families without a host in the data centers: they belong to the node. */
const ofTheNode = ['Sandbox', 'Health', 'Interactions'];

/**
 * Returns the servers for the routes: this node at one address, and with a service domain each family at the hosts of its
 * data centers.
 */
export function describeServers({ publicUrl, serviceDomain }: Addresses): {
  servers: DescribedServer[];
  serversOf: (tag: string) => DescribedServer[] | undefined;
} {
  const node = { url: publicUrl?.replace(/\/+$/, '') ?? '/', description: 'This installation' };
  return {
    servers: [node],
    serversOf(tag) {
      if (serviceDomain === undefined || ofTheNode.includes(tag)) return undefined;
      const url = `https://${hosts[tag] ?? otherHost}-{dc}.${serviceDomain}`;
      const dc = { default: '01', enum: [...dataCenters], description: 'Data center of the workspace' };
      return [{ url, description: 'The host of a data center', variables: { dc } }, node];
    },
  };
}

type Union = { oneOf: Node[]; discriminator?: object } | { anyOf: Node[] };

type Building = {
  /** The named schemas, by name. */
  schemas: Map<string, Node>;
  /** The vendor's abbreviation, in capitals. */
  abbreviation: string;
};

/**
 * Builds the document for client generators from the output of Fastify's plugin. Every named shape appears once and is
 * referenced, lists of words become enums, alternatives that are objects exclude each other, every member is described, and
 * header names get the abbreviation of the installation.
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
    // The examples were recorded with the neutral abbreviation.
    examples: JSON.parse(spellAbbreviation(JSON.stringify(examples), headerPrefix)) as typeof examples,
    nameOf,
  });
  splitShapes(building.schemas);
  const schemas = [...building.schemas].sort(([one], [other]) => (one < other ? -1 : 1));
  document.components = { ...(document.components as Node), schemas: Object.fromEntries(schemas) };
  completeSchemas(document, headerPrefix);
  return document;
}

/** Builds depth first, so that the nested shapes are already lifted when their parent is. */
function build(value: unknown, building: Building): unknown {
  if (Array.isArray(value)) return value.map((item) => build(item, building));
  if (value === null || typeof value !== 'object') return value;
  const node: Node = {};
  for (const [name, member] of Object.entries(value)) {
    // The content of an example is not a schema.
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

/** Returns the member with a different word in each alternative, such as `status` of a push. */
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

/** Replaces a named shape by a reference; a description that differs here stays next to the reference. */
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

/** A real call of an operation and its response, one for each operation; a test records them at a real node. */
export type Example = {
  /** Parameters of the path, the query and the headers. */
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

/** Adds each example to its operation in the document. */
function addExamples(
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
    // The example of a created object (201) is also shown for an existing one (200).
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
