import { parseIsoTime } from '../timing/iso-time.ts';
import type { FilterTime } from '../timing/iso-time.ts';
import { unknownCase } from '../unknown-case.ts';
import type {
  ActionFilter,
  ActionSpan,
  AttributeFilter,
  GroupFilter,
  NumberTest,
  SegmentFilter,
  TextTest,
  TimeTest,
} from './filter.ts';

export type DescribedFilters = {
  included: SegmentFilter;
  excluded?: SegmentFilter | undefined;
  /** Names of the referenced segments, by id; an id without a name is shown as it is. */
  segmentNames?: ReadonlyMap<string, string> | undefined;
};

type Names = ReadonlyMap<string, string>;

const maxDescription = 1_000;
const maxListed = 3;

/** Describes a filter segment in one English sentence of at most 1,000 characters (fact 2.3, `description`). */
export function describeSegmentFilter({ included, excluded, segmentNames }: DescribedFilters): string {
  const names: Names = segmentNames ?? new Map();
  const sentence = `Users for whom ${describe(included, names)}${excluded ? `, except those for whom ${describe(excluded, names)}` : ''}`;
  if (sentence.length < maxDescription) return `${sentence}.`;
  // Truncation must not leave half of a surrogate pair.
  return `${sentence.slice(0, maxDescription - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function describe(filter: SegmentFilter, names: Names): string {
  switch (filter.kind) {
    case 'group':
      return describeGroup(filter, names);
    case 'segment':
      return `the user is ${filter.negate ? 'not ' : ''}in segment ${quoted(names.get(filter.id) ?? filter.id)}`;
    case 'attribute':
      return describeAttribute(filter);
    case 'action':
      return describeAction(filter, names);
    default:
      return unknownCase(filter);
  }
}

/** Describes what a user did: `"order placed" happened at least 2 times in the last 7 days with total is greater than 50`. */
function describeAction(
  { eventName, compared, count, during, attributes, negate }: ActionFilter,
  names: Names,
): string {
  const isNever = compared !== 'atleast' && count === 0;
  const often = isNever ? '' : compared === 'atleast' && count === 1 ? '' : ` ${countWords[compared]} ${times(count)}`;
  const verb = isNever !== negate ? 'did not happen' : 'happened';
  const described = `${quoted(eventName)} ${often === '' || !negate ? verb : 'did not happen'}${often}`;
  const time = during === undefined ? '' : ` ${describeSpan(during)}`;
  return `${described}${time}${attributes === undefined ? '' : ` with (${describe(attributes, names)})`}`;
}

const countWords = { atleast: 'at least', exactly: 'exactly', atmost: 'at most' } as const;

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function describeSpan(during: ActionSpan): string {
  if (during.operator !== 'inTheLast') return describeTime(during);
  const { value, unit } = during;
  return `in the last ${value === 1 ? unit.slice(0, -1) : `${value} ${unit}`}`;
}

function describeGroup(group: GroupFilter, names: Names): string {
  const parts = group.filters.map((filter) => {
    const text = describe(filter, names);
    return filter.kind === 'group' && filter.filters.length > 1 && !filter.negate ? `(${text})` : text;
  });
  const text = parts.join(` ${group.operator} `);
  return group.negate ? `not (${text})` : text;
}

/** Describes one attribute filter. For lists, the subject is negated ("no value of"); for single values, the verb. */
function describeAttribute(filter: AttributeFilter): string {
  const { name, negate } = filter;
  const verb = (positive: string, negative: string): string => (negate ? negative : positive);
  switch (filter.dataType) {
    case 'string':
    case 'double':
      return `${name} ${describeTest(filter.test, negate)}`;
    case 'bool':
      return filter.test.operator === 'exists'
        ? `${name} ${verb('exists', 'does not exist')}`
        : `${name} ${verb('is', 'is not')} ${filter.test.value}`;
    case 'datetime':
      return filter.test.operator === 'exists'
        ? `${name} ${verb('exists', 'does not exist')}`
        : `${name} ${verb('is', 'is not')} ${describeTime(filter.test)}`;
    case 'array_string':
    case 'array_double': {
      const subject =
        filter.quantifier === 'any_of' ? verb('a value of', 'no value of') : verb('each of', 'not each of');
      return `${subject} ${name} ${describeTest(filter.test, false)}`;
    }
    default:
      return unknownCase(filter);
  }
}

function describeTest(test: TextTest | NumberTest, negate: boolean): string {
  const be = negate ? 'is not' : 'is';
  switch (test.operator) {
    case 'exists':
      return negate ? 'does not exist' : 'exists';
    case 'lessThan':
      return `${be} less than ${test.value}`;
    case 'greaterThan':
      return `${be} greater than ${test.value}`;
    case 'between':
      return `${be} between ${test.lower} and ${test.upper}`;
    case 'in':
      return `${be} ${oneOf(test.values.map(quoted))}${caseNote(test)}`;
    case 'contains':
      return `${negate ? 'does not contain' : 'contains'} ${oneOf(test.values.map(quoted))}${caseNote(test)}`;
    case 'startsWith':
      return `${negate ? 'does not start' : 'starts'} with ${oneOf(test.values.map(quoted))}${caseNote(test)}`;
    case 'endsWith':
      return `${negate ? 'does not end' : 'ends'} with ${oneOf(test.values.map(quoted))}${caseNote(test)}`;
    default:
      return unknownCase(test);
  }
}

function caseNote(test: TextTest | NumberTest): string {
  return 'isCaseSensitive' in test && test.isCaseSensitive ? ' (case-sensitive)' : '';
}

function describeTime(test: Exclude<TimeTest, { operator: 'exists' }>): string {
  switch (test.operator) {
    case 'today':
      return 'today';
    case 'inTheLast':
      return `in the last ${days(test.days)}`;
    case 'inTheNext':
      return `in the next ${days(test.days)}`;
    case 'in':
      return oneOf(test.values.map(timeText));
    case 'between':
      return `between ${timeText(test.lower)} and ${timeText(test.upper)}`;
    default:
      return `${test.operator} ${test.operator === 'on' ? dayText(test.value) : timeText(test.value)}`;
  }
}

function dayText(time: FilterTime): string {
  return time.kind === 'instant' ? time.at.toISOString().slice(0, 10) : timeText(time);
}

function timeText(time: FilterTime): string {
  if (time.kind === 'instant') return time.at.toISOString();
  if (time.kind === 'day') return time.startsAt.toISOString().slice(0, 10);
  if (time.days === 0) return 'today';
  return time.days < 0 ? `${days(-time.days)} ago` : `${days(time.days)} from today`;
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

function quoted(value: string | number): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

function oneOf(texts: string[]): string {
  const listed =
    texts.length > maxListed + 1 ? [...texts.slice(0, maxListed), `${texts.length - maxListed} more`] : texts;
  return listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} or ${listed.at(-1)}`;
}

/** The data types of filters (fact 2.3). */
export type AttributeType = 'string' | 'double' | 'bool' | 'datetime' | 'array_string' | 'array_double';

export type KnownAttribute = {
  name: string;
  /** The type of the sampled values; a text if there were none. */
  type: AttributeType;
  /** The most frequent sampled values. */
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

/** What is known about the attributes of a workspace. `indexed`: the types of texts and numbers that no sampled user has. */
type FoundAttributes = {
  names: readonly string[];
  sampled: readonly Sampled[];
  indexed: ReadonlyMap<string, 'string' | 'double'>;
};

/** Returns all known attributes by name, for use in filters, with their type and the values of some users. */
export function describeAttributes({ names, sampled, indexed }: FoundAttributes): KnownAttribute[] {
  const byName = Map.groupBy(sampled, ({ name }) => name);
  return names.map((name) => {
    const seen = byName.get(name) ?? [];
    const type = seen.length === 0 ? (indexed.get(name) ?? 'string') : commonType(seen);
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

/** Buckets that an estimate samples, of 256. Users are spread over all of them by a hash of their ids. */
export const sampledBuckets: readonly number[] = Array.from({ length: 16 }, (_, bucket) => bucket);

/** 400 found users mean an error of 5 % in two of three estimates (the error is the square root of the count). */
const minFound = 400;

/**
 * Estimates the number of users in all buckets from those found in a share of them, to two digits; undefined if too few
 * were found.
 */
export function estimateUsers(found: number, { share }: { share: number }): number | undefined {
  if (found < minFound) return undefined;
  return roundToTwoDigits(found / share);
}

/** 415,712 → 420,000. */
export function roundToTwoDigits(count: number): number {
  if (count < 100) return Math.round(count);
  const unit = 10 ** (Math.floor(Math.log10(count)) - 1);
  return Math.round(count / unit) * unit;
}
