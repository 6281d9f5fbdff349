import { Type } from 'typebox';
import type { TObject, TProperties, TSchema } from 'typebox';
import type { RequestReader } from './request-reader.ts';

/**
 * A member of a request, declared once: how it is read, and how the OpenAPI document describes it. `read` notes faults with
 * the reader, and returns undefined for a member that is absent or invalid.
 *
 * @example const options = { tag: plain({ max: 256 }), timestamp: whole(0, 10, 'Seconds') };
 *   readMembers(part, options); // { tag?: string; timestamp?: number }
 */
export type Field<Value> = {
  read(part: RequestReader, name: string): Value | undefined;
  schema: TSchema;
  /** A request without the member is invalid. Other members are optional in the document. */
  isRequired?: true;
};

/** A field of a member that a valid request always has. */
export type RequiredField<Value> = Field<Value> & { isRequired: true };

export type Fields = Record<string, Field<unknown>>;

type ValueOf<F> = F extends Field<infer Value> ? Value : never;
type RequiredNames<F extends Fields> = { [N in keyof F]: F[N] extends { isRequired: true } ? N : never }[keyof F];
type Flat<Members> = { [N in keyof Members]: Members[N] };

/** The type of the values that a record of fields reads from a valid request. */
export type Infer<F extends Fields> = Flat<
  { [N in RequiredNames<F>]: ValueOf<F[N]> } & { [N in Exclude<keyof F, RequiredNames<F>>]?: ValueOf<F[N]> }
>;

/** Reads one member of a part by its field. */
export type ReadMember<F extends Fields> = <N extends keyof F & string>(name: N) => ReturnType<F[N]['read']>;

/** Returns a function that reads members one at a time. The order of the calls is the order of the faults. */
export function reading<F extends Fields>(part: RequestReader, fields: F): ReadMember<F> {
  return (name) => fields[name]!.read(part, name) as ReturnType<F[typeof name]['read']>;
}

export type MemberOrder<F extends Fields> = {
  /** Members that are read before all others. */
  first?: readonly (keyof F & string)[];
  /** Checks members against each other: after those in `first`, or after all members if `first` is absent. */
  check?: (part: RequestReader, values: Partial<Infer<F>>) => void;
};

/** Reads all members, in the order of the fields unless `first` differs. Absent and invalid members are left out. */
export function readMembers<F extends Fields>(
  part: RequestReader,
  fields: F,
  { first = [], check }: MemberOrder<F> = {},
): Partial<Infer<F>> {
  const early: Record<string, unknown> = {};
  for (const name of first) early[name] = fields[name]!.read(part, name);
  if (first.length > 0) check?.(part, early as Partial<Infer<F>>);
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const value = first.includes(name) ? early[name] : fields[name]!.read(part, name);
    if (value !== undefined) values[name] = value;
  }
  if (first.length === 0) check?.(part, values as Partial<Infer<F>>);
  return values as Partial<Infer<F>>;
}

/** How the OpenAPI document describes an object. A shape with a `title` is defined once. */
export type Description = { title?: string; description?: string };

/** Returns the schema of an object with these members. */
export function schemaOf(fields: Fields, description: Description = {}): TObject {
  const names = Object.keys(fields).filter((name) => fields[name]!.isRequired);
  return schemaRequiring(fields, { names, ...description });
}

/** Returns the same schema with every member optional, for drafts, changes and fallbacks. */
export function optionalSchemaOf(fields: Fields, description: Description = {}): TObject {
  return schemaRequiring(fields, { names: [], ...description });
}

/** Returns the same schema with only these members required. Used if the required members differ by version or by call. */
export function schemaRequiring(
  fields: Fields,
  { names, ...description }: Description & { names: readonly string[] },
): TObject {
  const members = Object.entries(fields).map(([name, { schema }]) => [
    name,
    names.includes(name) ? schema : Type.Optional(schema),
  ]);
  return Type.Object(Object.fromEntries(members) as TProperties, description);
}

/** Returns the members that have a value. */
export function withoutAbsent<Members extends object>(members: {
  [N in keyof Members]: Members[N] | undefined;
}): Members {
  const present: Partial<Members> = {};
  // Each push runs this several times. A loop is two microseconds per push faster than entries and a filter.
  for (const name in members) if (members[name] !== undefined) present[name] = members[name] as Members[typeof name];
  return present as Members;
}
