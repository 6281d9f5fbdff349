import { maxExpandedFilters } from '../limits/segments.ts';
import type { FilterTime } from '../timing/iso-time.ts';
import { unknownCase } from '../unknown-case.ts';

/**
 * A parsed filter of users (fact 2.3). It means the same wherever it is evaluated:
 *
 * - A value of another type than `dataType`, no value and JSON null all count as missing. Every test is false for a missing
 *   value, and `negate` inverts any result: a negated filter matches users without the attribute.
 * - The attribute `uid` is the customer id.
 * - Texts are compared in Unicode NFC and, unless `isCaseSensitive`, in full upper case of the root locale (ß equals ss).
 * - Numbers are compared by value, exactly.
 * - Times are ISO 8601 texts (see iso-time.ts) or numbers of seconds since 1970 (years 1 to 9999), to the millisecond.
 */
export type SegmentFilter = GroupFilter | AttributeFilter | SegmentReference | ActionFilter;

export type GroupFilter = { kind: 'group'; operator: 'and' | 'or'; negate: boolean; filters: SegmentFilter[] };

/** Membership of another segment. A filter segment must be replaced by its trees before use. */
export type SegmentReference = { kind: 'segment'; id: string; negate: boolean };

/**
 * How often a user did something, by the stored events of that name. Attributes of an event are compared like those of a
 * user, without lists; `negate` inverts the result, so that users without any event match.
 */
export type ActionFilter = {
  kind: 'action';
  negate: boolean;
  eventName: string;
  compared: 'atleast' | 'exactly' | 'atmost';
  count: number;
  /** When the event happened; undefined for any time. */
  during: ActionSpan | undefined;
  /** What the event's attributes must pass. Holds no references and no other actions. */
  attributes: GroupFilter | undefined;
};

/** The last hours, days of 24 hours, weeks or months of 30 days up to now; or a span of time as for attributes. */
export type ActionSpan =
  | { operator: 'inTheLast'; value: number; unit: 'hours' | 'days' | 'weeks' | 'months'; milliseconds: number }
  | Extract<TimeTest, { operator: 'on' | 'before' | 'after' } | { operator: 'between' }>;

export type AttributeFilter = { kind: 'attribute'; name: string; negate: boolean } & AttributeTest;

export type AttributeTest =
  | { dataType: 'string'; test: TextTest }
  | { dataType: 'double'; test: NumberTest }
  | { dataType: 'bool'; test: FlagTest }
  | { dataType: 'datetime'; test: TimeTest }
  | { dataType: 'array_string'; quantifier: Quantifier; test: TextTest }
  | { dataType: 'array_double'; quantifier: Quantifier; test: NumberTest };

/**
 * `any_of`: one value of the user's list must pass the test. `all_of`: each of them must. A value of another type
 * passes no test, and an empty list passes neither.
 */
export type Quantifier = 'any_of' | 'all_of';

/** Several `values` mean "one of them". `in`: equal. `exists`: a text, even an empty one. */
export type TextTest =
  | { operator: 'in' | 'contains' | 'startsWith' | 'endsWith'; values: string[]; isCaseSensitive: boolean }
  | { operator: 'exists' };

/** `between` includes both bounds. */
export type NumberTest =
  | { operator: 'in'; values: number[] }
  | { operator: 'lessThan' | 'greaterThan'; value: number }
  | { operator: 'between'; lower: number; upper: number }
  | { operator: 'exists' };

export type FlagTest = { operator: 'is'; value: boolean } | { operator: 'exists' };

/**
 * A value is a span of time: a millisecond, or a whole UTC day. `before` ends where the span begins, `after` begins
 * where it ends, `between` and `in` include it, and `on` widens it to its day. `inTheLast` n days: from n times 24 h
 * ago to now, both included; `inTheNext` likewise. `today`: the current UTC day.
 */
export type TimeTest =
  | { operator: 'on' | 'before' | 'after'; value: FilterTime }
  | { operator: 'between'; lower: FilterTime; upper: FilterTime }
  | { operator: 'in'; values: FilterTime[] }
  | { operator: 'inTheLast' | 'inTheNext'; days: number }
  | { operator: 'today' }
  | { operator: 'exists' };

/** The trees of a filter segment. */
export type FilterTrees = { included: GroupFilter; excluded: GroupFilter | undefined };

/** References to filter segments cannot be expanded; `reason` is public. */
export class SegmentExpansionError extends Error {
  override readonly name = 'SegmentExpansionError';
  readonly code: 'cyclic' | 'too-large';
  constructor(code: 'cyclic' | 'too-large', reason: string) {
    super(reason);
    this.code = code;
  }
}

/**
 * Replaces every reference to a filter segment by its trees, recursively; references to other segments stay.
 *
 * @param treesOf trees by segment id, for every filter segment that is referred to, directly or not
 * @throws SegmentExpansionError if references form a cycle or expand to more than 1,000 filters
 */
export function expandSegmentFilter(filter: SegmentFilter, treesOf: ReadonlyMap<string, FilterTrees>): SegmentFilter {
  return expand(filter, { treesOf, within: [], count: { filters: 0 } });
}

type Walk = {
  treesOf: ReadonlyMap<string, FilterTrees>;
  within: readonly string[];
  count: { filters: number };
};

function expand(filter: SegmentFilter, walk: Walk): SegmentFilter {
  walk.count.filters += 1;
  if (walk.count.filters > maxExpandedFilters)
    throw new SegmentExpansionError(
      'too-large',
      `the segments referred to hold more than ${maxExpandedFilters} filters`,
    );
  switch (filter.kind) {
    case 'attribute':
    case 'action':
      return filter;
    case 'group':
      return { ...filter, filters: filter.filters.map((inner) => expand(inner, walk)) };
    case 'segment': {
      const trees = walk.treesOf.get(filter.id);
      if (!trees) return filter;
      if (walk.within.includes(filter.id))
        throw new SegmentExpansionError('cyclic', 'segments refer to each other in a circle');
      const inner = { ...walk, within: [...walk.within, filter.id] };
      const filters = [expand(trees.included, inner)];
      if (trees.excluded) {
        const excluded = expand(trees.excluded, inner) as GroupFilter;
        filters.push({ ...excluded, negate: !excluded.negate });
      }
      return { kind: 'group', operator: 'and', negate: filter.negate, filters };
    }
    default:
      return unknownCase(filter);
  }
}

/** Returns the ids of the segments to which a filter refers directly, each once. */
export function segmentsUsedBy(filter: SegmentFilter): string[] {
  switch (filter.kind) {
    case 'attribute':
    case 'action':
      return [];
    case 'segment':
      return [filter.id];
    case 'group':
      return [...new Set(filter.filters.flatMap(segmentsUsedBy))];
    default:
      return unknownCase(filter);
  }
}

/** Milliseconds since 1970; `from` is inclusive, `until` exclusive. */
export type TimeRange = { from: number; until: number };

const dayMilliseconds = 86_400_000;
// Outside every possible year, so that "before" and "after" are ranges like the others.
const earliest = -1e15;
const latest = 1e15;

/** Returns the ranges, one of which must contain the time, for a test made at `at`. */
export function timeRanges(test: TimeTest, at: Date): TimeRange[] {
  const now = at.getTime();
  switch (test.operator) {
    case 'exists':
      return [{ from: earliest, until: latest }];
    case 'today':
      return [dayOf(now)];
    case 'inTheLast':
      return [{ from: now - test.days * dayMilliseconds, until: now + 1 }];
    case 'inTheNext':
      return [{ from: now, until: now + test.days * dayMilliseconds + 1 }];
    case 'on':
      return [dayOf(spanOf(test.value, now).from)];
    case 'before':
      return [{ from: earliest, until: spanOf(test.value, now).from }];
    case 'after':
      return [{ from: spanOf(test.value, now).until, until: latest }];
    case 'between':
      return [{ from: spanOf(test.lower, now).from, until: spanOf(test.upper, now).until }];
    case 'in':
      return test.values.map((value) => spanOf(value, now));
    default:
      return unknownCase(test);
  }
}

/** Returns the time in which an event must have happened, at `at`; without a bound if any time is meant. */
export function actionRange(during: ActionSpan | undefined, at: Date): Partial<TimeRange> {
  if (during === undefined) return {};
  if (during.operator === 'inTheLast') return { from: at.getTime() - during.milliseconds, until: at.getTime() + 1 };
  const [{ from, until }] = timeRanges(during, at) as [TimeRange];
  return { ...(from > earliest && { from }), ...(until < latest && { until }) };
}

function spanOf(time: FilterTime, now: number): TimeRange {
  switch (time.kind) {
    case 'instant':
      return { from: time.at.getTime(), until: time.at.getTime() + 1 };
    case 'day':
      return dayOf(time.startsAt.getTime());
    case 'relative':
      return dayOf(now + time.days * dayMilliseconds);
    default:
      return unknownCase(time);
  }
}

function dayOf(milliseconds: number): TimeRange {
  const from = Math.floor(milliseconds / dayMilliseconds) * dayMilliseconds;
  return { from, until: from + dayMilliseconds };
}
