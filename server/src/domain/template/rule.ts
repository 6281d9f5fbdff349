import type { Rule } from './template-syntax.ts';
import { asNumber, isList, isRecord, kindOf, mistake } from './template-value.ts';
import type { RecordValue, Value } from './template-value.ts';

type Definition = Pick<Rule, 'apply'> & Partial<Rule>;

/** Rules by their names; what a rule does not say is that it takes no values. */
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

/** A whole number within what a text can hold. */
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
