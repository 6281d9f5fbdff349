import type { FilterTime } from './iso-time.ts';
import type { AttributeFilter, GroupFilter, NumberTest, SegmentFilter, TextTest, TimeTest } from './segment-filter.ts';
import { unknownCase } from '../unknown-case.ts';

export type DescribedFilters = {
  included: SegmentFilter;
  excluded?: SegmentFilter | undefined;
  /** Names of the segments referred to, by id; an id without a name is shown as it is. */
  segmentNames?: ReadonlyMap<string, string> | undefined;
};

type Names = ReadonlyMap<string, string>;

const maxDescription = 1_000;
const maxListed = 3;

/** What a filter segment holds, as one English sentence of at most 1,000 characters (fact 2.3, `description`). */
export function describeSegmentFilter({ included, excluded, segmentNames }: DescribedFilters): string {
  const names: Names = segmentNames ?? new Map();
  const sentence = `Users for whom ${describe(included, names)}${excluded ? `, except those for whom ${describe(excluded, names)}` : ''}`;
  if (sentence.length < maxDescription) return `${sentence}.`;
  // A cut must not leave half of a surrogate pair.
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
    default:
      return unknownCase(filter);
  }
}

function describeGroup(group: GroupFilter, names: Names): string {
  const parts = group.filters.map((filter) => {
    const text = describe(filter, names);
    return filter.kind === 'group' && filter.filters.length > 1 && !filter.negate ? `(${text})` : text;
  });
  const text = parts.join(` ${group.operator} `);
  return group.negate ? `not (${text})` : text;
}

/** Of lists the subject is negated ("no value of"), of single values the verb. */
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
