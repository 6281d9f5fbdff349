import { readEventTime } from '../events/event-fields.ts';
import type {
  AttributeFilter,
  FlagTest,
  NumberTest,
  SegmentFilter,
  TextTest,
  TimeTest,
} from '../segments/segment-filter.ts';
import { timeRanges } from '../segments/time-ranges.ts';
import { unknownCase } from '../unknown-case.ts';

type Attributes = Readonly<Record<string, unknown>>;

/**
 * Whether attributes pass a tree, by the meaning that filters of users have in the database (segment-filter.ts); here in
 * memory, because a statement for each event is what an ingest cannot pay. A reference to a segment has no meaning here.
 */
export function matchAttributes(filter: SegmentFilter, attributes: Attributes, at: Date): boolean {
  return filter.negate !== passesUnnegated(filter, attributes, at);
}

function passesUnnegated(filter: SegmentFilter, attributes: Attributes, at: Date): boolean {
  switch (filter.kind) {
    case 'group':
      return filter.operator === 'and'
        ? filter.filters.every((one) => matchAttributes(one, attributes, at))
        : filter.filters.some((one) => matchAttributes(one, attributes, at));
    case 'attribute': {
      const value = Object.hasOwn(attributes, filter.name) ? attributes[filter.name] : undefined;
      return passes(filter, value, at);
    }
    case 'segment':
      throw new Error('events are in no segment');
    default:
      return unknownCase(filter);
  }
}

function passes(filter: AttributeFilter, value: unknown, at: Date): boolean {
  switch (filter.dataType) {
    case 'string':
      return passesText(filter.test, value);
    case 'double':
      return passesNumber(filter.test, value);
    case 'bool':
      return passesFlag(filter.test, value);
    case 'datetime':
      return passesTime(filter.test, value, at);
    case 'array_string':
      return passesList(filter.quantifier, value, (item) => passesText(filter.test, item));
    case 'array_double':
      return passesList(filter.quantifier, value, (item) => passesNumber(filter.test, item));
    default:
      return unknownCase(filter);
  }
}

function passesList(quantifier: 'any_of' | 'all_of', value: unknown, isPassed: (item: unknown) => boolean): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return quantifier === 'any_of' ? value.some(isPassed) : value.every(isPassed);
}

function passesText(test: TextTest, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (test.operator === 'exists') return true;
  const fold = (text: string): string => (test.isCaseSensitive ? text.normalize() : text.normalize().toUpperCase());
  const text = fold(value);
  return test.values.some((wanted) => holdsText(test.operator, text, fold(wanted)));
}

function holdsText(operator: Exclude<TextTest['operator'], 'exists'>, text: string, wanted: string): boolean {
  switch (operator) {
    case 'in':
      return text === wanted;
    case 'contains':
      return text.includes(wanted);
    case 'startsWith':
      return text.startsWith(wanted);
    case 'endsWith':
      return text.endsWith(wanted);
    default:
      return unknownCase(operator);
  }
}

function passesNumber(test: NumberTest, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  switch (test.operator) {
    case 'exists':
      return true;
    case 'in':
      return test.values.includes(value);
    case 'lessThan':
      return value < test.value;
    case 'greaterThan':
      return value > test.value;
    case 'between':
      return test.lower <= value && value <= test.upper;
    default:
      return unknownCase(test);
  }
}

function passesFlag(test: FlagTest, value: unknown): boolean {
  return typeof value === 'boolean' && (test.operator === 'exists' || value === test.value);
}

function passesTime(test: TimeTest, value: unknown, at: Date): boolean {
  const time = readAttributeTime(value)?.getTime();
  return time !== undefined && timeRanges(test, at).some(({ from, until }) => from <= time && time < until);
}

// Of the years 1 to 9999, as filters of users have it.
const [firstSecond, endSecond] = [-62_135_596_800, 253_402_300_800];

/** A time as attributes hold it: ISO 8601, or seconds since 1970 as a number. */
export function readAttributeTime(value: unknown): Date | undefined {
  if (typeof value === 'number')
    return value >= firstSecond && value < endSecond ? new Date(Math.round(value * 1000)) : undefined;
  return typeof value === 'string' && value.includes('-') ? readEventTime(value) : undefined;
}
