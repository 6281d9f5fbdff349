import { parseIsoTime } from './iso-time.ts';

/** The data types of filters (fact 2.3). */
export type AttributeType = 'string' | 'double' | 'bool' | 'datetime' | 'array_string' | 'array_double';

export type KnownAttribute = {
  name: string;
  /** As its values are, of those that were looked at; a text where none was. */
  type: AttributeType;
  /** The most frequent ones of those. */
  values: string[];
};

type Sampled = { name: string; type: string; value: string; users: number };

const types: Record<string, AttributeType> = {
  string: 'string',
  number: 'double',
  boolean: 'bool',
  array_string: 'array_string',
  array_number: 'array_double',
};

/** What a filter may ask of, by name: all that are known, with the type and the values that some users have. */
export function describeAttributes(names: readonly string[], sampled: readonly Sampled[]): KnownAttribute[] {
  const byName = Map.groupBy(sampled, ({ name }) => name);
  return names.map((name) => {
    const seen = byName.get(name) ?? [];
    const type = commonType(seen);
    return {
      name,
      type: type === 'string' && areTimes(seen) ? 'datetime' : type,
      values: seen.filter((one) => types[one.type] === type).map(({ value }) => value),
    };
  });
}

function commonType(seen: readonly Sampled[]): AttributeType {
  const users = new Map<AttributeType, number>();
  for (const { type, users: more } of seen) {
    const known = types[type];
    if (known !== undefined) users.set(known, (users.get(known) ?? 0) + more);
  }
  return [...users].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? 'string';
}

function areTimes(seen: readonly Sampled[]): boolean {
  const texts = seen.filter(({ type }) => type === 'string');
  return texts.length > 0 && texts.every(({ value }) => parseIsoTime(value) !== undefined);
}
