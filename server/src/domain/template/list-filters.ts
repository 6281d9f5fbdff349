import type { Budget } from './budget.ts';
import { countOf, listOf, makeRules, numberOf, recordOf, textOf } from './rule.ts';
import type { Rule, RuleCall } from './template-syntax.ts';
import {
  areEqual,
  compareValues,
  isList,
  isRecord,
  isTrue,
  itemsOf,
  kindOf,
  memberOf,
  Missing,
  mistake,
  toText,
} from './template-value.ts';
import type { Value } from './template-value.ts';

type Keyed = { attribute: Value | undefined; budget: Budget };

/** Filters that make or read lists and objects. */
export const listFilters: ReadonlyMap<string, Rule> = makeRules({
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

/** What an item is looked at by: itself, or a member of it; `a.b` is a member of a member. */
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

/** Without `case_sensitive` texts are compared in lower case, as in Jinja. */
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

/** `map(attribute='name')`: a member of each item. */
function map({ of, args: [attribute, instead], budget }: RuleCall): Value[] {
  if (typeof attribute === 'number') countOf(attribute);
  return itemsOf(of, budget).map((item) => {
    const value = keyOf(item, { attribute, budget });
    if (!(value instanceof Missing)) return value;
    if (instead === undefined) throw value.error();
    return instead;
  });
}
