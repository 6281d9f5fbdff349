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
  const scaled = number * scale;
  if (!Number.isFinite(scaled) || Number.isInteger(scaled)) return number;
  switch (textOf(method)) {
    case 'ceil':
      return Math.ceil(scaled) / scale;
    case 'floor':
      return Math.floor(scaled) / scale;
    case 'common': {
      const below = Math.floor(scaled);
      // In the very middle to the even neighbour, as Python.
      if (scaled - below === 0.5) return (below % 2 === 0 ? below : below + 1) / scale;
      return digits >= 0 && Math.abs(number) < 1e15 ? Number(number.toFixed(digits)) : Math.round(scaled) / scale;
    }
    default:
      throw mistake('round takes the methods common, ceil and floor');
  }
}
