import { Type } from 'typebox';
import { optionalSchemaOf, readMembers, reading, schemaOf } from './field.ts';
import type { Description, Field, Fields, Infer, MemberOrder, ReadMember, RequiredField } from './field.ts';
import type { RequestReader, Schemes } from './request-reader.ts';

/** A part of a request: an object with members that have fields of their own. */
export type Part<Value, F extends Fields = Fields> = Field<Value> & {
  members: F;
  /** Reads the members of an object that the caller found. */
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

/** Makes a value of the members of an object. The order in which it reads them is the order of their faults. */
type ReadPart<F extends Fields, Value> = (part: RequestReader, read: ReadMember<F>) => Value | undefined;

/** An object whose value `read` makes of its members. */
export function partAs<F extends Fields, Value>(
  members: F,
  { read, ...description }: Description & { read: ReadPart<F, Value> },
): Part<Value, F> {
  return partOf(members, description, (found) => read(found, reading(found, members)));
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

/** Documents every member of a part as optional. What `read` requires is still required where it is read. */
export function partial<Value, F extends Fields>(whole: Part<Value, F>, description: Description = {}): Part<Value, F> {
  return { ...whole, schema: optionalSchemaOf(whole.members, description) };
}

/** Requires the member. Fields of texts that may not be empty have combinators of their own. */
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

/** Documents a member as optional that is required where it is read: it depends on other members whether it is read. */
export function optional<F extends Field<unknown>>(field: F): Omit<F, 'isRequired'> {
  const { isRequired: _required, ...others } = field;
  return others;
}

/** `maxLength` is a maximum that the document shows; `max` is one that it does not show. Absent: that of the family. */
type TextOptions = { max?: number; maxLength?: number; minLength?: number; description?: string };
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

/** A text of a given form, such as a colour. `reason` is the fault of all others. */
export function matching(form: { pattern: RegExp; reason: string; description?: string }): Field<string> {
  return {
    read(part, name) {
      const value = part.text(name);
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

/** A flag whose two texts are documented too. */
export function flagOrText(description?: string): Field<boolean> {
  const schema = Type.Union([Type.Boolean(), Type.Literal('true'), Type.Literal('false')], described(description));
  return { ...flag(), schema };
}

/** A flag that must have the one value that asks for what happens anyway (docs/decisions/0008). */
export function only(value: boolean, documented: Field<boolean> = flag(String(value))): Field<never> {
  return { read: (part, name) => void part.only(value, name) as undefined, schema: documented.schema };
}

export function whole(minimum: number, maximum: number, description?: string): Field<number> {
  const schema = Type.Integer({ minimum, maximum, ...described(description) });
  return { read: (part, name) => part.integer(name, { minimum, maximum }), schema };
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

/** A choice that the document describes in words, because other spellings of the words are accepted. */
export function word<const W extends Word>(among: readonly W[], description?: string): Field<W> {
  return { read: (part, name) => part.choice(name, among), schema: Type.String(described(description)) };
}

export function literal<const W extends Word>(only: W): Field<W> {
  return { read: (part, name) => part.choice(name, [only]), schema: Type.Literal(only) };
}

/** A value of one of several kinds, as it was sent. */
export function anyOf(kinds: readonly Field<unknown>[]): Field<unknown> {
  return { ...anything, schema: Type.Union(kinds.map(({ schema }) => schema)) };
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

/** `maxItems` is a maximum that the document shows; `max` is one that it does not show. */
type ListOptions = { minItems?: number; description?: string } & ({ max: number } | { maxItems: number });

/** A list of values of one field. Items without a value are left out. */
export function list<Value>(item: Field<Value> | Part<Value>, options: ListOptions): Field<Value[]> {
  const maxItems = maxItemsOf(options);
  return listOf(item, options, (part, name) => {
    const items = part.items(name, maxItems);
    return items.names().map((index) => ('readIn' in item ? item.readIn(items.part(index)) : item.read(items, index)));
  });
}

function maxItemsOf(options: ListOptions): number {
  return 'max' in options ? options.max : options.maxItems;
}

function listOf<Value>(
  item: Field<Value>,
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

/** Reads a member in another way than the field that documents it. */
export function readWith<Value>(documented: Field<unknown>, read: Field<Value>['read']): Field<Value> {
  const { schema, isRequired } = documented;
  return { schema, read, ...(isRequired && { isRequired }) };
}

/** Reads an absent or invalid member as this value. */
export function withDefault<Value>(
  field: Field<Value>,
  value: Value,
): Field<Value> & { read(part: RequestReader, name: string): Value } {
  return { ...field, read: (part, name) => field.read(part, name) ?? value };
}
