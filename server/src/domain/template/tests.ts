import { countOf, makeRules } from './rule.ts';
import type { Rule } from './template-syntax.ts';
import { areEqual, compareValues, isIn, isList, isRecord, Missing, mistake } from './template-value.ts';
import type { Value } from './template-value.ts';

type Order = (sign: number) => boolean;

const order = (passes: Order): Pick<Rule, 'parameters' | 'required' | 'apply'> => ({
  parameters: ['other'],
  required: 1,
  apply: ({ of, args, budget }) => passes(compareValues(of, { other: args[0]!, budget })),
});
const equality = (expected: boolean): Pick<Rule, 'parameters' | 'required' | 'apply'> => ({
  parameters: ['other'],
  required: 1,
  apply: ({ of, args, budget }) => areEqual(of, { other: args[0]!, budget }) === expected,
});
/** Of a value that is missing: no. */
const kind = (isOfKind: (value: Value) => boolean): Pick<Rule, 'takesMissing' | 'apply'> => ({
  takesMissing: true,
  apply: ({ of }) => !(of instanceof Missing) && isOfKind(of),
});

/** What may follow `is`. */
export const tests: ReadonlyMap<string, Rule> = makeRules({
  defined: { takesMissing: true, apply: ({ of }) => !(of instanceof Missing) },
  undefined: { takesMissing: true, apply: ({ of }) => of instanceof Missing },
  none: kind((value) => value === null),
  boolean: kind((value) => typeof value === 'boolean'),
  true: kind((value) => value === true),
  false: kind((value) => value === false),
  number: kind((value) => typeof value === 'number' || typeof value === 'boolean'),
  integer: kind((value) => Number.isInteger(value)),
  float: kind((value) => typeof value === 'number' && !Number.isInteger(value)),
  string: kind((value) => typeof value === 'string'),
  mapping: kind((value) => isRecord(value)),
  sequence: kind((value) => typeof value === 'string' || isList(value) || isRecord(value)),
  iterable: kind((value) => typeof value === 'string' || isList(value) || isRecord(value)),
  even: ({ of }) => countOf(of) % 2 === 0,
  odd: ({ of }) => countOf(of) % 2 !== 0,
  divisibleby: {
    parameters: ['num'],
    required: 1,
    apply: ({ of, args }) => isDivisible(countOf(of), countOf(args[0])),
  },
  in: {
    parameters: ['seq'],
    required: 1,
    apply: ({ of, args, budget }) => isIn(of, { items: args[0]!, budget }),
  },
  eq: equality(true),
  equalto: equality(true),
  sameas: equality(true),
  ne: equality(false),
  lt: order((sign) => sign < 0),
  lessthan: order((sign) => sign < 0),
  le: order((sign) => sign <= 0),
  gt: order((sign) => sign > 0),
  greaterthan: order((sign) => sign > 0),
  ge: order((sign) => sign >= 0),
});

function isDivisible(number: number, by: number): boolean {
  if (by === 0) throw mistake('a division by zero');
  return number % by === 0;
}
