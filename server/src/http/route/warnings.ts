import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VendorHeaders } from './vendor-headers.ts';

/** The part of JSON Schema that names fields; TypeBox objects are of this form. */
type Schema = {
  properties?: Record<string, Schema>;
  const?: unknown;
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
};

const maxReported = 20;

/**
 * Returns the paths of fields that a schema does not name, at any depth (decision D5). They are ignored with a warning,
 * never an error and never silently. Objects without named properties (maps) have no unknown fields.
 *
 * @returns at most 20 paths such as `payload.ANDROID.ledColour`
 */
export function findUnknownFields(schema: object, value: unknown): string[] {
  const found: string[] = [];
  collect(schema as Schema, value, { path: '', found });
  return found;
}

type Walk = { path: string; found: string[] };

function collect(schema: Schema, value: unknown, walk: Walk): void {
  if (walk.found.length >= maxReported || value === null || typeof value !== 'object') return;
  const { items, named, others } = membersOf(variantOf(schema, value));
  if (Array.isArray(value)) {
    if (items) value.forEach((item, index) => collect(items, item, { ...walk, path: `${walk.path}[${index}]` }));
    return;
  }
  if (!named && !others) return;
  for (const [name, member] of Object.entries(value)) {
    const known = named && Object.hasOwn(named, name) ? named[name] : others;
    if (known && (member === null || typeof member !== 'object')) continue;
    const path = walk.path === '' ? name : `${walk.path}.${name}`;
    if (known) collect(known, member, { ...walk, path });
    else if (walk.found.length < maxReported) walk.found.push(path);
  }
}

/**
 * Returns the variant whose literal `type` the value has: an element of a bulk request is a user, a device or an event, and
 * what a user's attributes may hold is unknown in a device.
 */
function variantOf(schema: Schema, value: object): Schema {
  const type = (value as { type?: unknown }).type;
  if (schema.anyOf === undefined || typeof type !== 'string') return schema;
  return schema.anyOf.find(({ properties }) => properties?.type?.const === type) ?? schema;
}

type Members = {
  items: Schema | undefined;
  named: Record<string, Schema> | undefined;
  /** The schema of members that are not named. */
  others: Schema | undefined;
};

/** The members of each schema: shapes are made once, and every request is compared with one. */
const knownMembers = new WeakMap<Schema, Members>();

function membersOf(schema: Schema): Members {
  const known = knownMembers.get(schema);
  if (known) return known;
  const variants = [schema, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const named = Object.assign({}, ...variants.map((variant) => variant.properties)) as Record<string, Schema>;
  const isMap = Object.keys(named).length === 0 || variants.some((variant) => variant.patternProperties);
  const others = variants.flatMap(({ patternProperties = {}, additionalProperties }) => [
    ...Object.values(patternProperties),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ]);
  const members = {
    items: variants.find((variant) => variant.items)?.items,
    named: isMap ? undefined : named,
    others: others[0],
  };
  knownMembers.set(schema, members);
  return members;
}

export type Warned = AnsweredCall & { shape: object };

/** Sets the warning header of decision D5 and records the warning for the API log, if fields are unknown. */
export function warnOfUnknownFields(
  vendorHeaders: Pick<VendorHeaders, 'nameOf'>,
  body: unknown,
  { request, reply, shape }: Warned,
): void {
  warnOfUnknownNames(vendorHeaders, { request, reply }, findUnknownFields(shape, body));
}

/**
 * Like warnOfUnknownFields, for unknown fields that the reader itself found; at most 20, because clients limit the length
 * of a header.
 */
export function warnOfUnknownNames(
  vendorHeaders: Pick<VendorHeaders, 'nameOf'>,
  call: AnsweredCall,
  paths: string[],
): void {
  if (paths.length > 0) addWarnings(vendorHeaders, call, [unknownFieldsWarning(paths.slice(0, maxReported))]);
}

/** Returns the value of the warning header: field names are quoted as JSON and limited to printable ASCII. */
function unknownFieldsWarning(paths: string[]): string {
  return paths
    .map(
      (path) =>
        `unknown field ${JSON.stringify(path)
          .replace(/[^\x20-\x7e]/g, '?')
          .slice(0, 200)}`,
    )
    .join(', ');
}

export type AnsweredCall = { request: FastifyRequest; reply: FastifyReply };

/** Adds to the warning header of a reply and to the API log's entry of the call (decision D5). */
export function addWarnings(
  vendorHeaders: Pick<VendorHeaders, 'nameOf'>,
  { request, reply }: AnsweredCall,
  warnings: readonly string[],
): void {
  if (warnings.length === 0) return;
  const name = vendorHeaders.nameOf('x-*-warning');
  const earlier = reply.getHeader(name);
  request.facts.warnings.push(...warnings);
  const printable = warnings.map((warning) => warning.replace(/[^\x20-\x7e]/g, '?'));
  reply.header(name, [...(earlier === undefined ? [] : [String(earlier)]), ...printable].join(', '));
}
