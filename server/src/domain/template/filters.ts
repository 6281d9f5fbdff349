import { toDigits } from './to-digits.ts';
import { listFilters } from './list-filters.ts';
import { countOf, makeRules, numberOf, textOf } from './rule.ts';
import type { Rule, RuleCall } from './template-syntax.ts';
import { mistake } from './template-value.ts';
import type { Value } from './template-value.ts';
import { textFilters } from './text-filters.ts';

/** Filters that make or read numbers. A whole number is shown without `.0`. */
const numberFilters = makeRules({
  abs: ({ of }) => Math.abs(numberOf(of)),
  int: { parameters: ['default', 'base'], apply: toInteger },
  float: { parameters: ['default'], apply: ({ of, args: [instead = 0] }) => toNumber(of) ?? instead },
  round: { parameters: ['precision', 'method'], apply: round },
});

/** What may follow `|`. */
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

/** Whole, or too large to have anything to be cut. */
function isRound(scaled: number): boolean {
  return !Number.isFinite(scaled) || Number.isInteger(scaled);
}

/** To tens, hundreds and so on; in the very middle to the even one, as Python. */
function roundWhole(number: number, unit: number): number {
  const below = Math.floor(number / unit);
  const isTie = number / unit - below === 0.5;
  return (isTie ? below + Math.abs(below % 2) : Math.round(number / unit)) * unit;
}
