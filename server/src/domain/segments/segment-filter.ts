import type { FilterTime } from './iso-time.ts';

/**
 * A parsed filter of users (fact 2.3), the same in meaning wherever it is evaluated:
 *
 * - A value of another type than `dataType`, no value and JSON null are all "missing". Every test is false when
 *   missing,   and `negate` inverts any result: a negated filter holds for users without the attribute.
 * - The attribute `uid` is the customer id.
 * - Texts compare in Unicode NFC; unless `isCaseSensitive`, in full upper case of the root locale (ß equals ss).
 * - Numbers compare by value, exactly.
 * - Times are ISO 8601 texts (see iso-time.ts) or numbers of seconds since 1970 (years 1 to 9999), to the millisecond.
 */
export type SegmentFilter = GroupFilter | AttributeFilter | SegmentReference;

export type GroupFilter = { kind: 'group'; operator: 'and' | 'or'; negate: boolean; filters: SegmentFilter[] };

/** Membership of another segment. A filter segment must be replaced by its trees before use. */
export type SegmentReference = { kind: 'segment'; id: string; negate: boolean };

export type AttributeFilter = { kind: 'attribute'; name: string; negate: boolean } & AttributeTest;

export type AttributeTest =
  | { dataType: 'string'; test: TextTest }
  | { dataType: 'double'; test: NumberTest }
  | { dataType: 'bool'; test: FlagTest }
  | { dataType: 'datetime'; test: TimeTest }
  | { dataType: 'array_string'; quantifier: Quantifier; test: TextTest }
  | { dataType: 'array_double'; quantifier: Quantifier; test: NumberTest };

/**
 * Whether one value of the user's list must pass the test (`any_of`) or each of them (`all_of`). A value of another
 * type passes no test, and an empty list holds for neither.
 */
export type Quantifier = 'any_of' | 'all_of';

/** Several `values` mean "one of them". `in`: equal. `exists`: a text, be it empty. */
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
 * A value is a span of time: a millisecond, or a whole day of UTC. `before` ends where it begins, `after` begins where
 * it ends, `between` and `in` include it, `on` widens it to its day. `inTheLast` n days: from n times 24 h ago to now,
 * both included; `inTheNext` likewise. `today`: the day of UTC.
 */
export type TimeTest =
  | { operator: 'on' | 'before' | 'after'; value: FilterTime }
  | { operator: 'between'; lower: FilterTime; upper: FilterTime }
  | { operator: 'in'; values: FilterTime[] }
  | { operator: 'inTheLast' | 'inTheNext'; days: number }
  | { operator: 'today' }
  | { operator: 'exists' };
