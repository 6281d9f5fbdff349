import { maxRenderedCharacters, maxTemplateSteps } from '../limits/push.ts';

/** The result of an expression: a JSON value, a source of attributes, or a missing value. */
export type Value = string | number | boolean | null | readonly Value[] | RecordValue | AttributeSource | Missing;
export type RecordValue = { readonly [name: string]: Value };

/**
 * Attributes by name. Only single attributes can be used, so that the user data that a rendering reads is known in
 * advance.
 *
 * @param find returns undefined if there is no attribute with that name
 */
export class AttributeSource {
  readonly cause: RenderCause;
  readonly name: string;
  readonly find: (name: string) => unknown;

  constructor(name: string, { cause, find }: { cause: RenderCause; find: (name: string) => unknown }) {
    this.name = name;
    this.cause = cause;
    this.find = find;
  }
}

/** A missing value. A template may give it a default and test whether it is defined; any other use fails. */
export class Missing {
  readonly cause: RenderCause;
  readonly what: string;

  constructor(cause: RenderCause, what: string) {
    this.cause = cause;
    this.what = what;
  }

  error(): RenderError {
    return new RenderError(this.cause, `${this.what} has no value`);
  }
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isRecord(value: Value): value is RecordValue {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    !(value instanceof Missing) &&
    !(value instanceof AttributeSource)
  );
}

/** Returns the value at a name or index. JSON's null counts as missing, because it should never be displayed. */
export function memberOf(of: Value, { key, budget }: { key: Value; budget: Budget }): Value {
  if (of instanceof Missing) throw of.error();
  if (key instanceof Missing) throw key.error();
  if (of instanceof AttributeSource) {
    if (typeof key !== 'string') throw mistake(`${of.name} needs a name in quotes`);
    const found = of.find(key) as Value | null | undefined;
    return found === undefined || found === null ? new Missing(of.cause, `${of.name}['${clip(key)}']`) : found;
  }
  if (typeof key === 'number' && (typeof of === 'string' || isList(of))) {
    const items = typeof of === 'string' ? charactersOf(of, budget) : of;
    const found = Number.isInteger(key) ? items.at(key) : undefined;
    return found ?? new Missing('UNDEFINED', `the item ${key}`);
  }
  if (typeof key === 'string' && isRecord(of) && Object.hasOwn(of, key) && of[key] !== null) return of[key]!;
  return new Missing('UNDEFINED', typeof key === 'string' ? `the member ${clip(key)}` : 'a member');
}

/** Returns a text's characters, as readers of most scripts count them: code points. */
export function charactersOf(text: string, budget: Budget): string[] {
  budget.read(text.length);
  budget.list(text.length);
  return [...text];
}

export function isTrue(value: Value): boolean {
  if (value instanceof Missing) throw value.error();
  if (value === null || value === false || value === 0 || value === '') return false;
  if (isList(value)) return value.length > 0;
  return !isRecord(value) || Object.keys(value).length > 0;
}

/** Returns a value as displayed. The format is Python's, except that a whole number has no `.0`. */
export function toText(value: Value, budget: Budget): string {
  if (typeof value === 'string') return value;
  if (value instanceof Missing) throw value.error();
  return toSource(value, budget);
}

function toSource(value: Value, budget: Budget): string {
  budget.spend(1);
  if (value instanceof Missing) throw value.error();
  if (value instanceof AttributeSource) throw mistake(`${value.name} needs a name, as in ${value.name}['First Name']`);
  if (typeof value === 'number') return budget.number(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (typeof value === 'string') {
    budget.make(value.length);
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = value
      .replaceAll('\\', '\\\\')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r')
      .replaceAll('\t', '\\t');
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
  }
  const parts: string[] = [];
  let length = 2;
  const add = (part: string): void => {
    length += part.length + 2;
    budget.make(length);
    parts.push(part);
  };
  if (isList(value)) {
    for (const item of value) add(toSource(item, budget));
    return `[${parts.join(', ')}]`;
  }
  for (const [name, member] of Object.entries(value)) add(`${toSource(name, budget)}: ${toSource(member, budget)}`);
  return `{${parts.join(', ')}}`;
}

export function areEqual(one: Value, { other, budget }: { other: Value; budget: Budget }): boolean {
  if (one instanceof Missing) throw one.error();
  if (other instanceof Missing) throw other.error();
  budget.spend(1);
  if (typeof one === 'string' && typeof other === 'string') {
    budget.read(Math.min(one.length, other.length));
    return one === other;
  }
  if (typeof asNumber(one) === 'number') return asNumber(one) === asNumber(other);
  if (isList(one) && isList(other)) {
    if (one.length !== other.length) return false;
    return one.every((item, place) => areEqual(item, { other: other[place]!, budget }));
  }
  if (isRecord(one) && isRecord(other)) {
    const names = Object.keys(one);
    budget.list(names.length);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && areEqual(one[name]!, { other: other[name]!, budget }))
    );
  }
  return one === other;
}

/** Returns a negative number, zero or a positive number. Numbers, texts and lists can each be compared with their own kind. */
export function compareValues(one: Value, { other, budget }: { other: Value; budget: Budget }): number {
  if (one instanceof Missing) throw one.error();
  if (other instanceof Missing) throw other.error();
  budget.spend(1);
  const [left, right] = [asNumber(one), asNumber(other)];
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof one === 'string' && typeof other === 'string') {
    budget.read(Math.min(one.length, other.length));
    return one < other ? -1 : one > other ? 1 : 0;
  }
  if (isList(one) && isList(other)) {
    for (let place = 0; place < Math.min(one.length, other.length); place += 1) {
      const order = compareValues(one[place]!, { other: other[place]!, budget });
      if (order !== 0) return order;
    }
    return one.length - other.length;
  }
  throw mistake(`${kindOf(one)} and ${kindOf(other)} have no order`);
}

/** Converts true to 1 and false to 0 where a number is needed, as in Python. */
export function asNumber(value: Value): Value {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Returns the items of an iterable value: a list, a record's names, a text's characters. */
export function itemsOf(value: Value, budget: Budget): readonly Value[] {
  if (value instanceof Missing) throw value.error();
  if (isList(value)) {
    budget.list(value.length);
    return value;
  }
  if (typeof value === 'string') return charactersOf(value, budget);
  if (!isRecord(value)) throw mistake(`${kindOf(value)} has no items`);
  const names = Object.keys(value);
  budget.list(names.length);
  return names;
}

export function kindOf(value: Value): string {
  if (value === null) return 'none';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return 'a number';
  if (typeof value === 'boolean') return 'yes or no';
  if (isList(value)) return 'a list';
  return value instanceof AttributeSource ? value.name : 'an object';
}

/** Returns the error for an operation that its values do not allow. */
export function mistake(reason: string): RenderError {
  return new RenderError('UNKNOWN', reason);
}

function clip(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

/** Implements Jinja's `in`: a part of a text, an item of a list, a name of an object, or an attribute that a user has. */
export function isIn(value: Value, { items, budget }: { items: Value; budget: Budget }): boolean {
  if (value instanceof Missing) throw value.error();
  if (items instanceof AttributeSource) return !(memberOf(items, { key: value, budget }) instanceof Missing);
  if (typeof items === 'string') {
    if (typeof value !== 'string') throw mistake(`${kindOf(value)} cannot be in a text`);
    budget.read(items.length + value.length);
    return items.includes(value);
  }
  if (isRecord(items)) return typeof value === 'string' && Object.hasOwn(items, value);
  return itemsOf(items, budget).some((item) => areEqual(value, { other: item, budget }));
}

export class Budget {
  #left = maxTemplateSteps;

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new RenderError('LIMIT', `takes more than ${maxTemplateSteps} steps`);
  }

  /** Pays for reading this many characters. */
  read(characters: number): void {
    this.spend(1 + (characters >>> 6));
  }

  /** Pays in advance for creating a text of this many characters. */
  make(characters: number): void {
    if (characters > maxRenderedCharacters)
      throw new RenderError('LIMIT', `makes a text of more than ${maxRenderedCharacters} characters`);
    this.spend(1 + (characters >>> 4));
  }

  /** Pays for reading or creating a list of this many items. */
  list(items: number): void {
    this.spend(1 + (items >>> 4));
  }

  number(value: number): string {
    this.spend(1);
    if (!Number.isFinite(value)) throw new RenderError('UNKNOWN', 'a number became too large');
    return String(value === 0 ? 0 : value);
  }
}

/**
 * Why a text could not be rendered for a user (fact 3.8). `RESULT`: it was rendered, but is invalid in its place, for
 * example because it is not a web address.
 */
export type RenderCause =
  'USER_ATTRIBUTE' | 'EVENT_ATTRIBUTE' | 'BUSINESS_EVENT_ATTRIBUTE' | 'UNDEFINED' | 'LIMIT' | 'RESULT' | 'UNKNOWN';

/** Ends one rendering. Thrown and caught only in this folder; renderTemplate returns a value. */
export class RenderError extends Error {
  readonly renderCause: RenderCause;

  constructor(renderCause: RenderCause, reason: string) {
    // A stack trace costs more than most renderings and would not be used.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(reason);
    Error.stackTraceLimit = limit;
    this.renderCause = renderCause;
  }
}
