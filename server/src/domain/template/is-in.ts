import type { Budget } from './budget.ts';
import { areEqual, AttributeSource, isRecord, itemsOf, kindOf, memberOf, Missing, mistake } from './template-value.ts';
import type { Value } from './template-value.ts';

/** Jinja's `in`: a part of a text, an item of a list, a name of an object, an attribute that a person has. */
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
