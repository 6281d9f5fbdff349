import { countOf, makeRules, textOf, listOf, numberOf, recordOf } from './rules.ts';
import type { Rule, RuleCall } from './syntax.ts';
import {
  asNumber,
  charactersOf,
  isList,
  isRecord,
  isTrue,
  Missing,
  mistake,
  toText,
  areEqual,
  compareValues,
  itemsOf,
  kindOf,
  memberOf,
} from './values.ts';
import type { Budget, Value } from './values.ts';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/** Returns a rule that turns a text into another, at most a few times as long. */
export function rewrite(change: (text: string) => string): Rule['apply'] {
  return ({ of, budget }) => {
    const text = toText(of, budget);
    budget.make(text.length);
    const changed = change(text);
    budget.make(changed.length);
    return changed;
  };
}

export function capitalize(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Words begin after spaces, hyphens and opening brackets, as in Jinja. */
function title(text: string): string {
  return text
    .split(/([-\s({[<]+)/)
    .map(capitalize)
    .join('');
}

/** Removes whitespace, or the given characters, from the ends. */
export function strip(
  { of, args: [characters], budget }: RuleCall,
  ends: { start: boolean; end: boolean } = { start: true, end: true },
): string {
  const text = toText(of, budget);
  budget.read(text.length);
  if (characters === undefined || characters === null) {
    const cut = ends.start ? text.trimStart() : text;
    return ends.end ? cut.trimEnd() : cut;
  }
  const cut = new Set(charactersOf(textOf(characters), budget));
  const rest = charactersOf(text, budget);
  let [from, to] = [0, rest.length];
  while (ends.start && from < to && cut.has(rest[from]!)) from += 1;
  while (ends.end && to > from && cut.has(rest[to - 1]!)) to -= 1;
  return rest.slice(from, to).join('');
}

/** Replaces a text everywhere or a given number of times. The size of the result is checked before it is built. */
export function replace({ of, args: [before, after, times], budget }: RuleCall): string {
  const text = toText(of, budget);
  const [old, fresh] = [textOf(before), textOf(after)];
  budget.read(text.length);
  const parts = old === '' ? ['', ...charactersOf(text, budget), ''] : splitAll(text, { by: old, budget });
  const most = times === undefined || times === null ? -1 : countOf(times);
  const replaced = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  budget.make(text.length + replaced * Math.max(0, fresh.length - old.length));
  return (
    parts.slice(0, replaced + 1).join(fresh) +
    parts
      .slice(replaced + 1)
      .map((part) => old + part)
      .join('')
  );
}

export function splitAll(text: string, { by, budget }: { by: string; budget: Budget }): string[] {
  budget.read(text.length);
  let places = 0;
  for (let at = text.indexOf(by); at !== -1; at = text.indexOf(by, at + by.length)) {
    places += 1;
    if (places % 16 === 0) budget.spend(1);
  }
  return text.split(by);
}

function truncate({ of, args, budget }: RuleCall): string {
  const text = toText(of, budget);
  const length = countOf(args[0] ?? 255);
  const end = textOf(args[2] ?? '...');
  const leeway = countOf(args[3] ?? 5);
  const endLength = charactersOf(end, budget).length;
  if (length < endLength || leeway < 0) throw mistake('truncate needs room for its end');
  // The rest need not be read: no character has more than two units.
  const characters = charactersOf(text.slice(0, (length + leeway + 2) * 2), budget);
  if (characters.length <= length + leeway) return text;
  const kept = characters.slice(0, length - endLength).join('');
  if (args[1] !== undefined && isTrue(args[1])) return kept + end;
  const space = kept.lastIndexOf(' ');
  return (space === -1 ? kept : kept.slice(0, space)) + end;
}

/** Encodes like Python's `quote`, which keeps `/` and `_.-~`. An object becomes a query string. */
function urlEncode({ of, budget }: RuleCall): string {
  if (isRecord(of))
    return Object.entries(of)
      .map(([name, value]) => `${encodeQuery(name, budget)}=${encodeQuery(value, budget)}`)
      .join('&');
  return encode(toText(of, budget), budget);
}

function encodeQuery(value: Value, budget: Budget): string {
  return encode(toText(value, budget), budget).replaceAll('/', '%2F').replaceAll('%20', '+');
}

function encode(text: string, budget: Budget): string {
  budget.make(text.length);
  const encoded = encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
  budget.make(encoded.length);
  return encoded;
}

/** Formats with `%s`, `%d` and `%.2f`; Python's other formats are rejected. */
function format({ of, args, budget }: RuleCall): string {
  const values = args.filter((arg) => arg !== undefined);
  const pattern = textOf(of);
  budget.make(pattern.length);
  let length = pattern.length;
  let place = 0;
  const made = pattern.replace(/%(?:%|(?:\.(\d{1,2}))?([a-zA-Z]))?/g, (found, digits?: string, letter?: string) => {
    if (found === '%%') return '%';
    if (place >= values.length) throw mistake('format has more places than values');
    const value = values[place]!;
    place += 1;
    const text = formatOne(value, { letter, digits, budget });
    length += text.length;
    budget.make(length);
    return text;
  });
  if (place < values.length) throw mistake('format has more values than places');
  return made;
}

function formatOne(
  value: Value,
  { letter, digits, budget }: { letter: string | undefined; digits: string | undefined; budget: Budget },
): string {
  if (letter === 's' && digits === undefined) return toText(value, budget);
  const number = asNumber(value);
  if (typeof number !== 'number') throw mistake('format needs a number here');
  if (letter === 'd' && digits === undefined) return budget.number(Math.trunc(number));
  if (letter === 'f' && Math.abs(number) < 1e15) return toDigits(number, Math.min(20, Number(digits ?? 6)));
  throw mistake('format takes %s, %d, %f and %.2f');
}

function toJson({ of, budget }: RuleCall): string {
  const length = { made: 0 };
  const pay = (value: Value): void => {
    budget.spend(1);
    if (value instanceof Missing) throw value.error();
    length.made += typeof value === 'string' ? value.length : 8;
    budget.make(length.made);
    if (isList(value)) for (const item of value) pay(item);
    else if (isRecord(value))
      for (const [name, member] of Object.entries(value)) {
        pay(name);
        pay(member);
      }
    else if (value !== null && typeof value === 'object') throw mistake('a source of attributes is not JSON');
  };
  pay(of);
  // Escaped for use in an HTML page, as in Jinja.
  return JSON.stringify(of).replace(/[<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
}

/** Filters that make or read texts. */
const textFilters = makeRules({
  default: { takesMissing: true, parameters: ['default_value', 'boolean'], apply: withDefault },
  d: { takesMissing: true, parameters: ['default_value', 'boolean'], apply: withDefault },
  upper: rewrite((text) => text.toUpperCase()),
  lower: rewrite((text) => text.toLowerCase()),
  capitalize: rewrite(capitalize),
  title: rewrite(title),
  escape: rewrite((text) => text.replace(/[&<>"']/g, (character) => escapes[character]!)),
  e: rewrite((text) => text.replace(/[&<>"']/g, (character) => escapes[character]!)),
  string: rewrite((text) => text),
  trim: { parameters: ['chars'], apply: (call) => strip(call) },
  replace: { parameters: ['old', 'new', 'count'], required: 2, apply: replace },
  truncate: { parameters: ['length', 'killwords', 'end', 'leeway'], apply: truncate },
  urlencode: urlEncode,
  wordcount: ({ of, budget }) => {
    const text = toText(of, budget);
    budget.list(text.length);
    return text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0;
  },
  format: { parameters: ['1', '2', '3', '4', '5', '6', '7', '8'], apply: format },
  tojson: toJson,
});

function withDefault({ of, args: [instead = '', isForEmpty = false] }: RuleCall): Value {
  return of instanceof Missing || (isTrue(isForEmpty) && !isTrue(of)) ? instead : of;
}

type Keyed = { attribute: Value | undefined; budget: Budget };

/** Filters that make or read lists and objects. */
const listFilters: ReadonlyMap<string, Rule> = makeRules({
  length: lengthOf,
  count: lengthOf,
  first: ({ of, budget }) => end(itemsOf(of, budget).at(0)),
  last: ({ of, budget }) => end(itemsOf(of, budget).at(-1)),
  list: ({ of, budget }) => itemsOf(of, budget),
  items: ({ of, budget }) => entriesOf(of, budget),
  join: { parameters: ['d', 'attribute'], apply: join },
  map: { parameters: ['attribute', 'default'], required: 1, isNamedOnly: true, apply: map },
  max: { parameters: ['case_sensitive', 'attribute'], apply: (call) => end(sorted(call, call.args[1]).at(-1)) },
  min: { parameters: ['case_sensitive', 'attribute'], apply: (call) => end(sorted(call, call.args[1]).at(0)) },
  reverse: ({ of, budget }) => {
    const items = [...itemsOf(of, budget)].reverse();
    return typeof of === 'string' ? items.join('') : items;
  },
  sort: {
    parameters: ['reverse', 'case_sensitive', 'attribute'],
    apply: (call) => {
      const items = sorted({ ...call, args: [call.args[1]] }, call.args[2]);
      return call.args[0] !== undefined && isTrue(call.args[0]) ? items.reverse() : items;
    },
  },
  sum: {
    parameters: ['attribute', 'start'],
    apply: ({ of, args: [attribute, start = 0], budget }) =>
      listOf(of).reduce<number>((total, item) => {
        budget.spend(1);
        return total + numberOf(keyOf(item, { attribute, budget }));
      }, numberOf(start)),
  },
  unique: { parameters: ['case_sensitive', 'attribute'], apply: unique },
});

export function entriesOf(of: Value, budget: Budget): Value {
  const entries = Object.entries(recordOf(of));
  budget.spend(1 + entries.length);
  return entries;
}

function lengthOf({ of, budget }: RuleCall): number {
  if (isRecord(of)) return Object.keys(of).length;
  if (isList(of)) return of.length;
  if (typeof of !== 'string') throw mistake(`${kindOf(of)} has no length`);
  return itemsOf(of, budget).length;
}

function end(item: Value | undefined): Value {
  return item === undefined ? new Missing('UNDEFINED', 'an item of an empty list') : item;
}

/** Returns the key of an item: the item itself, or a member of it; `a.b` is a member of a member. */
function keyOf(item: Value, { attribute, budget }: Keyed): Value {
  if (attribute === undefined || attribute === null) return item;
  if (typeof attribute === 'number') return memberOf(item, { key: attribute, budget });
  return textOf(attribute)
    .split('.')
    .reduce<Value>((of, name) => {
      budget.spend(1);
      return memberOf(of, { key: /^\d+$/.test(name) ? Number(name) : name, budget });
    }, item);
}

/** Returns the key for comparisons. Without `case_sensitive`, texts are compared in lower case, as in Jinja. */
function foldedKey(item: Value, { isExact, attribute, budget }: Keyed & { isExact: boolean }): Value {
  const key = keyOf(item, { attribute, budget });
  if (key instanceof Missing) throw key.error();
  if (isExact || typeof key !== 'string') return key;
  budget.make(key.length);
  return key.toLowerCase();
}

function sorted({ of, args: [exact = false], budget }: RuleCall, attribute: Value | undefined): Value[] {
  const isExact = isTrue(exact);
  const keyed = itemsOf(of, budget).map((item) => ({ item, key: foldedKey(item, { isExact, attribute, budget }) }));
  return keyed.sort((one, two) => compareValues(one.key, { other: two.key, budget })).map(({ item }) => item);
}

function unique({ of, args: [exact = false, attribute], budget }: RuleCall): Value[] {
  const isExact = isTrue(exact);
  const seen: Value[] = [];
  return itemsOf(of, budget).filter((item) => {
    const key = foldedKey(item, { isExact, attribute, budget });
    if (seen.some((other) => areEqual(key, { other, budget }))) return false;
    seen.push(key);
    return true;
  });
}

function join({ of, args: [separator = '', attribute], budget }: RuleCall): string {
  const between = textOf(separator);
  let length = 0;
  const parts = itemsOf(of, budget).map((item) => {
    const part = toText(keyOf(item, { attribute, budget }), budget);
    length += part.length + between.length;
    budget.make(length);
    return part;
  });
  return parts.join(between);
}

/** Implements `map(attribute='name')`: a member of each item. */
function map({ of, args: [attribute, instead], budget }: RuleCall): Value[] {
  if (typeof attribute === 'number') countOf(attribute);
  return itemsOf(of, budget).map((item) => {
    const value = keyOf(item, { attribute, budget });
    if (!(value instanceof Missing)) return value;
    if (instead === undefined) throw value.error();
    return instead;
  });
}

/** Filters that make or read numbers. A whole number is shown without `.0`. */
const numberFilters = makeRules({
  abs: ({ of }) => Math.abs(numberOf(of)),
  int: { parameters: ['default', 'base'], apply: toInteger },
  float: { parameters: ['default'], apply: ({ of, args: [instead = 0] }) => toNumber(of) ?? instead },
  round: { parameters: ['precision', 'method'], apply: round },
});

/** The filters that may follow `|`. */
export const filters: ReadonlyMap<string, Rule> = new Map([...textFilters, ...listFilters, ...numberFilters]);

function toInteger({ of, args: [instead = 0, base = 10] }: RuleCall): Value {
  if (base !== 10) throw mistake('int takes the base 10 alone');
  const number = toNumber(of);
  return number === undefined ? instead : Math.trunc(number);
}

function toNumber(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.length > 100) return undefined;
  const text = value.trim().replaceAll('_', '');
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function round({ of, args: [precision = 0, method = 'common'] }: RuleCall): number {
  const number = numberOf(of);
  const digits = countOf(precision);
  if (Math.abs(digits) > 15) throw mistake('round takes at most 15 digits');
  const scale = 10 ** digits;
  switch (textOf(method)) {
    case 'ceil':
      return isRound(number * scale) ? number : Math.ceil(number * scale) / scale;
    case 'floor':
      return isRound(number * scale) ? number : Math.floor(number * scale) / scale;
    case 'common':
      return digits < 0 ? roundWhole(number, 10 ** -digits) : Number(toDigits(number, digits));
    default:
      throw mistake('round takes the methods common, ceil and floor');
  }
}

/** True if the number is whole, or too large to have a fraction. */
function isRound(scaled: number): boolean {
  return !Number.isFinite(scaled) || Number.isInteger(scaled);
}

/** Rounds to tens, hundreds and so on; ties go to even, as in Python. */
function roundWhole(number: number, unit: number): number {
  const below = Math.floor(number / unit);
  const isTie = number / unit - below === 0.5;
  return (isTie ? below + Math.abs(below % 2) : Math.round(number / unit)) * unit;
}

/** Formats a number with 0 to 20 digits after the point; ties go to even, as in Python. */
function toDigits(number: number, digits: number): string {
  const text = number.toFixed(digits);
  // A tie is an odd number of halves, quarters, eighths …; every other number has a nearest neighbour.
  const isTie = Math.abs(number * 2 ** (digits + 1)) % 2 === 1;
  if (!isTie || /[02468]$/.test(text)) return text;
  return number.toFixed(digits + 1).replace(/\.?5$/, '');
}
