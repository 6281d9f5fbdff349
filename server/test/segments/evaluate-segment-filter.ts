export type FilterUser = {
  customerId: string;
  attributes: Record<string, unknown>;
  segments: string[];
  events?: { name: string; attributes: Record<string, unknown>; occurredAt: Date }[];
};

const day = 86_400_000;

/**
 * Whether a user passes a tree as it is sent (fact 2.3), written as plainly as can be and sharing nothing with the
 * parser or the SQL: the meaning both are held to.
 */
export function evaluateSegmentFilter(filter: any, user: FilterUser, at: Date): boolean {
  const isNegated = filter.negate === true;
  return isNegated !== evaluate(filter, user, at);
}

function evaluate(filter: any, user: FilterUser, at: Date): boolean {
  if (filter.filters !== undefined) {
    const results = filter.filters.map((inner: any) => evaluateSegmentFilter(inner, user, at));
    return filter.filter_operator === 'and' ? !results.includes(false) : results.includes(true);
  }
  if (filter.filter_type === 'custom_segments') return user.segments.includes(filter.id);
  if (filter.filter_type === 'actions') return passesAction(filter, user, at);
  const value = filter.name === 'uid' ? user.customerId : own(user.attributes, filter.name);
  switch (filter.data_type) {
    case 'string':
      return passesText(filter, value);
    case 'double':
      return passesNumber(filter, value);
    case 'bool':
      return typeof value === 'boolean' && (filter.operator === 'exists' || value === filter.value);
    case 'datetime':
      return passesTime(filter, value, at.getTime());
    case 'array_string':
      return passesList(filter, value, passesText);
    case 'array_double':
      return passesList(filter, value, passesNumber);
    default:
      throw new Error(`no such data type: ${filter.data_type}`);
  }
}

const units: Record<string, number> = { hours: day / 24, days: day, weeks: 7 * day, months: 30 * day };

function passesAction(filter: any, user: FilterUser, at: Date): boolean {
  const range = filter.primary_time_range;
  const done = (user.events ?? []).filter(({ name, attributes, occurredAt }) => {
    if (name !== filter.action_name) return false;
    // An attribute "uid" of an event is not the customer id.
    const bearer = { customerId: own(attributes, 'uid') as string, attributes, segments: [] };
    if (filter.attributes && !evaluateSegmentFilter(filter.attributes, bearer, at)) return false;
    if (!range) return true;
    if (range.type === 'inTheLast')
      return at.getTime() - range.value * units[range.period_unit ?? 'days']! <= occurredAt.getTime();
    return passesTime({ ...range, operator: range.type }, occurredAt.toISOString(), at.getTime());
  }).length;
  const { type, count } = filter.execution ?? (filter.executed === false ? never : once);
  return type === 'atleast' ? done >= count : type === 'atmost' ? done <= count : done === count;
}

const never = { type: 'exactly', count: 0 };
const once = { type: 'atleast', count: 1 };

function own(attributes: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

function passesList(filter: any, list: unknown, passes: (filter: any, value: unknown) => boolean): boolean {
  if (!Array.isArray(list) || list.length === 0) return false;
  const results = list.map((value) => passes(filter, value));
  return filter.array_filter_type === 'all_of' ? !results.includes(false) : results.includes(true);
}

function passesText(filter: any, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (filter.operator === 'exists') return true;
  const fold = (text: string): string =>
    filter.case_sensitive === true ? text.normalize('NFC') : text.normalize('NFC').toUpperCase();
  const text = fold(value);
  const wanted: string[] = [filter.value].flat().map(fold);
  switch (filter.operator) {
    case 'is':
    case 'in':
      return wanted.includes(text);
    case 'contains':
    case 'containsInTheFollowing':
      return wanted.some((part) => text.includes(part));
    case 'startsWith':
    case 'startsWithInTheFollowing':
    case 'startWithInTheFollowing':
      return wanted.some((part) => text.startsWith(part));
    case 'endsWith':
    case 'endsWithInTheFollowing':
      return wanted.some((part) => text.endsWith(part));
    default:
      throw new Error(`no such operator: ${filter.operator}`);
  }
}

function passesNumber(filter: any, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  switch (filter.operator) {
    case 'exists':
      return true;
    case 'in':
      return [filter.value].flat().some((wanted) => wanted === value);
    case 'lessThan':
      return value < filter.value;
    case 'greaterThan':
      return value > filter.value;
    case 'between':
      return filter.value <= value && value <= filter.value1;
    default:
      throw new Error(`no such operator: ${filter.operator}`);
  }
}

function passesTime(filter: any, stored: unknown, now: number): boolean {
  const time = toTime(stored);
  if (time === undefined) return false;
  const dayStart = (milliseconds: number): number => Math.floor(milliseconds / day) * day;
  // First and last millisecond of a value: a date and a relative value are whole days.
  const span = (value: any): [first: number, last: number] => {
    if (filter.value_type === 'relative_past' || filter.value_type === 'relative_future') {
      const start = dayStart(filter.value_type === 'relative_past' ? now - value * day : now + value * day);
      return [start, start + day - 1];
    }
    const start = toTime(value)!;
    return value.length === 10 ? [start, start + day - 1] : [start, start];
  };
  switch (filter.operator) {
    case 'exists':
      return true;
    case 'today':
      return dayStart(time) === dayStart(now);
    case 'on':
      return dayStart(time) === dayStart(span(filter.value)[0]);
    case 'before':
      return time < span(filter.value)[0];
    case 'after':
      return time > span(filter.value)[1];
    case 'between': {
      const [one, other] = [span(filter.value), span(filter.value1)];
      return Math.min(one[0], other[0]) <= time && time <= Math.max(one[1], other[1]);
    }
    case 'is':
    case 'in':
      return [filter.value].flat().some((value) => span(value)[0] <= time && time <= span(value)[1]);
    case 'inTheLast':
      return now - filter.value * day <= time && time <= now;
    case 'inTheNext':
      return now <= time && time <= now + filter.value * day;
    default:
      throw new Error(`no such operator: ${filter.operator}`);
  }
}

/** Milliseconds since 1970 of a stored time, field by field; undefined when it is none. */
function toTime(stored: unknown): number | undefined {
  if (typeof stored === 'number')
    return stored >= -62_135_596_800 && stored < 253_402_300_800 ? Math.round(stored * 1000) : undefined;
  if (typeof stored !== 'string') return undefined;
  const parts =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$/.exec(
      stored,
    );
  if (!parts) return undefined;
  const number = (index: number): number => Number(parts[index] ?? 0);
  const date = new Date(0);
  date.setUTCFullYear(number(1), number(2) - 1, number(3));
  const isOfTheCalendar = date.getUTCMonth() === number(2) - 1 && date.getUTCDate() === number(3) && number(1) > 0;
  const isOfTheClock = number(4) < 24 && number(5) < 60 && number(6) < 60 && number(9) < 15 && number(10) < 60;
  if (!isOfTheCalendar || !isOfTheClock) return undefined;
  const offsetMinutes = (parts[8] === '-' ? -1 : 1) * (number(9) * 60 + number(10));
  date.setUTCHours(
    number(4),
    number(5) - offsetMinutes,
    number(6),
    Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3)),
  );
  return date.getTime();
}
