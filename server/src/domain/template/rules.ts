import { TemplateSyntaxError } from './syntax.ts';
import type { Expression, Rule } from './syntax.ts';
import { asNumber, isList, isRecord, kindOf, mistake, areEqual, compareValues, isIn, Missing } from './values.ts';
import type { RecordValue, Value } from './values.ts';

type Definition = Pick<Rule, 'apply'> & Partial<Rule>;

/** Creates rules by name; by default, a rule has no parameters. */
export function makeRules(definitions: Record<string, Definition | Rule['apply']>): ReadonlyMap<string, Rule> {
  return new Map(
    Object.entries(definitions).map(([name, given]) => {
      const definition = typeof given === 'function' ? { apply: given } : given;
      return [name, { name, parameters: [], required: 0, ...definition }];
    }),
  );
}

export function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw mistake(`a text is needed, not ${kindOf(value ?? null)}`);
  return value;
}

export function numberOf(value: Value | undefined): number {
  const number = asNumber(value ?? null);
  if (typeof number !== 'number') throw mistake(`a number is needed, not ${kindOf(value ?? null)}`);
  return number;
}

/** Returns a whole number of at most a million in size. */
export function countOf(value: Value | undefined): number {
  const number = numberOf(value);
  if (!Number.isInteger(number) || Math.abs(number) > 1_000_000) throw mistake('a small whole number is needed');
  return number;
}

export function listOf(value: Value | undefined): readonly Value[] {
  if (value === undefined || !isList(value)) throw mistake(`a list is needed, not ${kindOf(value ?? null)}`);
  return value;
}

export function recordOf(value: Value | undefined): RecordValue {
  if (value === undefined || !isRecord(value)) throw mistake(`an object is needed, not ${kindOf(value ?? null)}`);
  return value;
}

type Call = { of: Expression; at: number; positional?: Expression[]; named?: Map<string, Expression> };

/** Binds a rule to its arguments. @throws TemplateSyntaxError for arguments it does not accept */
export function bindRule(rule: Rule, { of, at, positional = [], named = new Map() }: Call): Expression {
  if (rule.isNamedOnly && positional.length > 0)
    throw new TemplateSyntaxError(`${rule.name} takes ${rule.parameters[0]!}= alone`, at);
  if (positional.length > rule.parameters.length)
    throw new TemplateSyntaxError(`${rule.name} takes at most ${rule.parameters.length} values`, at);
  for (const name of named.keys()) {
    const place = rule.parameters.indexOf(name);
    if (place === -1 || place < positional.length)
      throw new TemplateSyntaxError(`${rule.name} does not take ${name} here`, at);
  }
  const args = rule.parameters.map((name, place) => positional[place] ?? named.get(name));
  if (args.slice(0, rule.required).includes(undefined))
    throw new TemplateSyntaxError(`${rule.name} needs ${rule.parameters.slice(0, rule.required).join(', ')}`, at);
  return { kind: 'apply', rule, of, args };
}

/** @throws TemplateSyntaxError if there is no rule of that name */
export function findRule(rules: ReadonlyMap<string, Rule>, asked: { name: string; at: number; hint: string }): Rule {
  const rule = rules.get(asked.name);
  if (!rule) throw new TemplateSyntaxError(`${asked.hint} is not available`, asked.at);
  return rule;
}

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
/** Creates a type test; it is false for a missing value. */
const kind = (isOfKind: (value: Value) => boolean): Pick<Rule, 'takesMissing' | 'apply'> => ({
  takesMissing: true,
  apply: ({ of }) => !(of instanceof Missing) && isOfKind(of),
});

/** The tests that may follow `is`. */
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
