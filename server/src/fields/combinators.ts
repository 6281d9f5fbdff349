import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { optionalSchemaOf, readMembers, reading, schemaOf } from './field.ts';
import type { Description, Field, Fields, Infer, MemberOrder, ReadMember, RequiredField } from './field.ts';
import type { RequestReader, Schemes } from './request-reader.ts';

/** A part of a request: an object, with a field for each of its members. */
export type Part<Value, F extends Fields = Fields> = Field<Value> & {
  members: F;
  /** Reads the members of an object for which the caller already has a reader. */
  readIn(part: RequestReader): Value | undefined;
};

/** An object. Its value has the members that were sent, and is undefined if there are none. */
export function part<F extends Fields>(
  members: F,
  { first, check, ...description }: Description & MemberOrder<F> = {},
): Part<Infer<F>, F> {
  const order: MemberOrder<F> = { ...(first && { first }), ...(check && { check }) };
  return partOf(members, description, (found) => {
    const values = readMembers(found, members, order);
    return Object.keys(values).length === 0 ? undefined : (values as Infer<F>);
  });
}

/** Computes a value from the members of an object. Their faults have the order in which it reads the members. */
type ReadPart<F extends Fields, Value> = (part: RequestReader, read: ReadMember<F>) => Value | undefined;

/** An object whose value `read` computes from its members. */
export function partAs<F extends Fields, Value>(
  members: F,
  { read, ...description }: Description & { read: ReadPart<F, Value> },
): Part<Value, F> {
  return partOf(members, description, (found) => read(found, reading(found, members)));
}

/** A part that always has a value. */
export type PartOrEmpty<Value, F extends Fields = Fields> = Omit<Part<Value, F>, 'read' | 'readIn'> & {
  read(outer: RequestReader, name: string): Value;
  readIn(part: RequestReader): Value;
};

type ReadFilledPart<F extends Fields, Value> = (part: RequestReader, read: ReadMember<F>) => Value;

/** An object whose absence counts as an object without members. `read` sets defaults and notes missing members. */
export function partOrEmpty<F extends Fields, Value>(
  members: F,
  { read, ...description }: Description & { read: ReadFilledPart<F, Value> },
): PartOrEmpty<Value, F> {
  const readIn = (found: RequestReader): Value => read(found, reading(found, members));
  return {
    members,
    readIn,
    read: (outer, name) => readIn(outer.part(name)),
    schema: schemaOf(members, description),
  };
}

/** An object with known members and with others, whose names the caller chooses. Its value is the object as it was sent. */
export function openPart(members: Fields, { others, description }: { others: Field<unknown>; description: string }) {
  const { properties } = schemaOf(members);
  const schema = Type.Object(properties, { additionalProperties: others.schema, description });
  return { ...anything, schema, members };
}

function partOf<F extends Fields, Value>(
  members: F,
  description: Description,
  readIn: (found: RequestReader) => Value | undefined,
): Part<Value, F> {
  return {
    members,
    readIn,
    read(outer, name) {
      const found = outer.findPart(name);
      return found && readIn(found);
    },
    schema: schemaOf(members, description),
  };
}

/** Documents every member of a part as optional. A member that `read` requires is still required. */
export function partial<Value, F extends Fields>(whole: Part<Value, F>, description: Description = {}): Part<Value, F> {
  return { ...whole, schema: optionalSchemaOf(whole.members, description) };
}

/** Requires the member. For texts that must not be empty, use requiredText, requiredTemplate or requiredPlain. */
export function required<Value>(field: Field<Value>): RequiredField<Value> {
  return {
    ...field,
    isRequired: true,
    read(part, name) {
      part.requires(name);
      return field.read(part, name);
    },
  };
}

/** Documents a required member as optional, because it is read only if other members have certain values. */
export function optional<F extends Field<unknown>>(field: F): Omit<F, 'isRequired'> {
  const { isRequired: _required, ...others } = field;
  return others;
}

/** Reads an empty text as an absent member. */
export function unlessEmpty<Value>(field: Field<Value>): Field<Value> {
  return { ...field, read: (part, name) => (part.isAbsent(name) ? undefined : field.read(part, name)) };
}

/** The OpenAPI document shows `maxLength`, but not `max`. If both are absent, the family's maximum applies. */
type TextOptions = { max?: number; maxLength?: number; minLength?: number; format?: string; description?: string };
type RequiredWords = RequiredField<string> & { read(part: RequestReader, name: string): string };

type WayToRead<Value> = (part: RequestReader, name: string, max: number | undefined) => Value;

function words<Value>({ max, ...schema }: TextOptions, read: WayToRead<Value>) {
  const maxCharacters = max ?? schema.maxLength;
  return {
    read: (part: RequestReader, name: string) => read(part, name, maxCharacters),
    schema: Type.String(schema),
  };
}

const requiredWords = (options: TextOptions, read: WayToRead<string>): RequiredWords => ({
  ...words(options, read),
  isRequired: true,
});

export const text = (options: TextOptions = {}): Field<string> =>
  words(options, (part, name, max) => part.text(name, max));

/** A text that may be a template, which is rendered for each user. */
export const template = (options: TextOptions = {}): Field<string> =>
  words(options, (part, name, max) => part.template(name, max));

/** A text that is the same for every user and therefore must not be a template. */
export const plain = (options: TextOptions = {}): Field<string> =>
  words(options, (part, name, max) => part.plain(name, max));

export const requiredText = (options: TextOptions = {}): RequiredWords =>
  requiredWords(options, (part, name, max) => part.requiredText(name, max));

export const requiredTemplate = (options: TextOptions = {}): RequiredWords =>
  requiredWords(options, (part, name, max) => part.requiredTemplate(name, max));

export const requiredPlain = (options: TextOptions = {}): RequiredWords =>
  requiredWords(options, (part, name, max) => part.requiredPlain(name, max));

/** An id. A client may send it as a number, which is read as its digits. */
export const requiredId = (options: TextOptions = {}): RequiredWords => ({
  ...requiredWords(options, (part, name, max) => part.requiredId(name, max)),
  schema: Type.Union([Type.String(options), Type.Integer()]),
});

/** An id that may be left out, but not be empty. */
export const filledId = (options: TextOptions = {}): Field<string> => ({
  ...requiredId(options),
  isRequired: undefined as never,
  read: (part, name) => (part.get(name) === undefined ? undefined : part.requiredId(name, options.max)),
});

/** A text that may be left out, but not be empty: an empty one counts as missing. */
export const filledText = (options: TextOptions = {}): Field<string> =>
  words(options, (part, name, max) => (part.get(name) === undefined ? undefined : part.requiredText(name, max)));

/** A text that matches a pattern, such as a colour. `reason` is the fault of any other text. */
export function matching(form: { pattern: RegExp; reason: string; max?: number; description?: string }): Field<string> {
  return {
    read(part, name) {
      const value = part.text(name, form.max);
      if (value === undefined || form.pattern.test(value)) return value;
      part.invalid(name, form.reason);
      return undefined;
    },
    schema: Type.String(described(form.description)),
  };
}

/** A URL that may be a template. */
export function templateUrl(schemes: Schemes, description?: string): Field<string> {
  return { read: (part, name) => part.templateUrl(name, schemes), schema: Type.String(described(description)) };
}

export function flag(description?: string): Field<boolean> {
  return { read: (part, name) => part.flag(name), schema: Type.Boolean(described(description)) };
}

/** A flag that may also be sent as the text "true" or "false". */
export function flagOrText(description?: string): Field<boolean> {
  const schema = Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')], described(description));
  return { ...flag(), schema };
}

/** A flag that must have the only value that this deployment supports (docs/decisions/0008). */
export function only(value: boolean, documented: Field<boolean> = flag(String(value))): Field<never> {
  return { read: (part, name) => void part.only(value, name) as undefined, schema: documented.schema };
}

/** A documented member that this deployment does not support and rejects by name (docs/decisions/0008). */
export function refused(documented: Field<unknown> = text()): Field<never> {
  return {
    read: (part, name) => void part.refuse(name) as undefined,
    schema: withDescription(documented, 'Refused').schema,
  };
}

export function whole(minimum: number, maximum: number, description?: string): Field<number> {
  const schema = Type.Integer({ minimum, maximum, ...described(description) });
  return { read: (part, name) => part.integer(name, { minimum, maximum }), schema };
}

/** A whole number. The OpenAPI document does not show its maximum `max`. */
export function wholeFrom(minimum: number, { max, description }: { max: number; description: string }): Field<number> {
  return { ...whole(minimum, max), schema: Type.Integer({ minimum, description }) };
}

/** A fraction from 0 to 1. */
export function share(description?: string): Field<number> {
  const schema = Type.Number({ minimum: 0, maximum: 1, ...described(description) });
  return { read: (part, name) => part.share(name), schema };
}

type Word = string | number;

export function choice<const W extends Word>(among: readonly W[], description?: string): Field<W> {
  const schema = Type.Union(
    among.map((word) => Type.Literal(word)),
    described(description),
  );
  return { read: (part, name) => part.choice(name, among), schema };
}

/** A choice that the OpenAPI document lists as an enum of the usual spellings, with a sentence. Other spellings may be accepted. */
export function word<const W extends string>(among: readonly W[], description?: string): Field<W> {
  return { ...enumeration(among, description), read: (part, name) => part.choice(name, among) };
}

export function literal<const W extends Word>(only: W): Field<W> {
  return { read: (part, name) => part.choice(name, [only]), schema: Type.Literal(only) };
}

/** A list of words, in the order of `among`. */
export function choices<const W extends string>(among: readonly W[], description?: string): Field<W[]> {
  const schema = Type.Array(Type.Unsafe<W>({ type: 'string', enum: [...among] }), described(description));
  return { read: (part, name) => part.choices(name, among), schema };
}

/** A value of one of several kinds, as it was sent. */
export function anyOf(kinds: readonly Pick<Field<unknown>, 'schema'>[], description?: string): Field<unknown> {
  const schemas = kinds.map(({ schema }) => schema);
  return { ...anything, schema: Type.Union(schemas, described(description)) };
}

export const number: Field<number> = {
  read(part, name) {
    const value = part.get(name);
    const sent = part.rules.toNumber(value);
    if (value === undefined || Number.isFinite(sent)) return sent as number | undefined;
    part.invalid(name, 'must be a number');
    return undefined;
  },
  schema: Type.Number(),
};

/** The OpenAPI document shows `maxItems`, but not `max`. */
type ListOptions = { minItems?: number; description?: string } & ({ max: number } | { maxItems: number });

/** A list of values of one field. Items without a value are left out. */
export function list<Value>(item: Field<Value> | Part<Value>, options: ListOptions): Field<Value[]> {
  const maxItems = maxItemsOf(options);
  return listOf(item, options, (part, name) => {
    const items = part.items(name, maxItems);
    return items.names().map((index) => ('readIn' in item ? item.readIn(items.part(index)) : item.read(items, index)));
  });
}

/** A list of objects. Items that are not objects are reported before all others, and read as objects without members. */
export function parts<Value>(item: Pick<Part<Value>, 'readIn' | 'schema'>, options: ListOptions): Field<Value[]> {
  const maxItems = maxItemsOf(options);
  return listOf(item, options, (part, name) => part.parts(name, maxItems).map((found) => item.readIn(found)));
}

type TextsOptions = { maxItems?: number; maxCharacters?: number; description?: string };

/** A list of non-empty texts without duplicates. The OpenAPI document shows no maximum. */
export function texts({ description, ...limits }: TextsOptions = {}): Field<string[]> {
  return {
    read: (part, name) => part.texts(name, limits),
    schema: Type.Array(Type.String(), described(description)),
  };
}

function maxItemsOf(options: ListOptions): number {
  return 'max' in options ? options.max : options.maxItems;
}

function listOf<Value>(
  item: Pick<Field<Value>, 'schema'>,
  options: ListOptions,
  readItems: (part: RequestReader, name: string) => (Value | undefined)[],
): Field<Value[]> {
  const { max: _hidden, ...schema } = { max: undefined, ...options };
  return {
    read(part, name) {
      if (part.get(name) === undefined) return undefined;
      return readItems(part, name).filter((value) => value !== undefined);
    },
    schema: Type.Array(item.schema, schema),
  };
}

/** Any value, as it was sent. */
export const anything: Field<unknown> = { read: (part, name) => part.get(name), schema: Type.Unknown() };

/** Any object, as it was sent. A description documents its members. */
export const anyObject: Field<unknown> = { ...anything, schema: Type.Unsafe<unknown>({ type: 'object' }) };

/** Adds a description to a field whose combinator accepts none. */
export function withDescription<F extends Field<unknown>>(field: F, description: string): F {
  return { ...field, schema: withMembers(field.schema, { description }) };
}

/** Names a shape, so that the OpenAPI document defines it once, among the schemas. */
export function withTitle<F extends Field<unknown>>(field: F, title: string): F {
  return { ...field, schema: withMembers(field.schema, { title }) };
}

/** Returns a copy of the schema with these members, and with the hidden properties of typebox. */
function withMembers(schema: TSchema, members: Record<string, string>): TSchema {
  const added = Object.entries(members).map(([name, value]) => [name, { value, enumerable: true }]);
  const all = { ...Object.getOwnPropertyDescriptors(schema), ...Object.fromEntries(added) };
  return Object.defineProperties({}, all) as TSchema;
}

/** The members of an object, as they were sent. */
export const membersOf: Field<Record<string, unknown>> = {
  read: (part, name) => part.findPart(name)?.members,
  schema: Type.Record(Type.String(), Type.Unknown()),
};

/** An object whose members have names that the caller chooses, and values of one kind. */
export function record<Value>(item: Field<Value>, description?: string): Field<Record<string, Value>> {
  return {
    read(part, name) {
      const found = part.findPart(name);
      const pairs = found?.names().map((key) => [key, item.read(found, key)] as const);
      return pairs && Object.fromEntries(pairs.filter((pair): pair is [string, Value] => pair[1] !== undefined));
    },
    schema: Type.Record(Type.String(), item.schema, described(description)),
  };
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}

/** Returns a field that is documented by one field and read by a function. */
export function readWith<Value>(documented: Field<unknown>, read: Field<Value>['read']): Field<Value> {
  const { schema, isRequired } = documented;
  return { schema, read, ...(isRequired && { isRequired }) };
}

/** Like readWith, for a member that always has a value. */
export function alwaysRead<Value>(documented: Field<unknown>, read: (part: RequestReader, name: string) => Value) {
  return { ...readWith<Value>(documented, read), read };
}

/** Reads an absent or invalid member as this value. */
export function withDefault<Value>(
  field: Field<Value>,
  value: Value,
): Field<Value> & { read(part: RequestReader, name: string): Value } {
  return { ...field, read: (part, name) => field.read(part, name) ?? value };
}

/** A choice that the document lists as an enum. */
export function enumeration<const W extends Word>(among: readonly W[], description?: string): Field<W> {
  const type = typeof among[0] === 'number' ? 'integer' : 'string';
  return { ...choice(among), schema: Type.Unsafe<W>({ type, enum: [...among], ...described(description) }) };
}

type Kind<Value> = { is: (value: unknown) => value is Value; reason: string };

/** A value of any kind that passes a check. `reason` is the fault of any other value. */
export function passing<Value>(documented: Field<unknown>, { is, reason }: Kind<Value>): Field<Value> {
  return readWith(documented, (part, name) => {
    const value = part.get(name);
    if (value === undefined || is(value)) return value;
    part.invalid(name, reason);
    return undefined;
  });
}

/** Checks a value that the field has read. */
export function checked<Value>(
  field: Field<Value>,
  { is, reason }: { is: (value: Value) => boolean; reason: string },
): Field<Value> {
  return readWith(field, (part, name) => {
    const value = field.read(part, name);
    if (value === undefined || is(value)) return value;
    part.invalid(name, reason);
    return undefined;
  });
}

/** Converts the value that a field reads. */
export function mapped<Read, Value>(field: Field<Read>, map: (value: Read) => Value): Field<Value> {
  return readWith(field, (part, name) => {
    const value = field.read(part, name);
    return value === undefined ? undefined : map(value);
  });
}

/** An object, as it was sent; `schema` describes it. */
export function sentObject(schema: TSchema): Field<Record<string, unknown>> {
  return { ...membersOf, schema };
}
