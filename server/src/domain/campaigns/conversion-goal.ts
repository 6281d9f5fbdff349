import { textFault } from '../users/user-attributes.ts';
import { conversionWindowHours } from './limits.ts';
import { unknownCase } from '../unknown-case.ts';

/** An event that counts as success of a campaign (interface 2.10). */
export type ConversionGoal = {
  name: string;
  eventName: string;
  attribute?: { name: string; type: 'string' | 'numeric'; operator: string; value?: string | number | string[] };
  /** How long after a message an event counts; absent: as long as events of pushes do. The same in all goals of a campaign. */
  windowHours?: number;
  /** The attribute of the event that says what it brought, and in which currency. */
  revenue?: { attribute: string; currency?: string };
};

/** How long after a message events count for these goals. */
export function windowHoursOf(goals: readonly Pick<ConversionGoal, 'windowHours'>[]): number {
  return goals[0]?.windowHours ?? conversionWindowHours;
}

/** What an event brought, by a goal; null where it says nothing of it, or no finite number. */
export function revenueOf(
  { revenue }: Pick<ConversionGoal, 'revenue'>,
  attributes: Record<string, unknown>,
): number | null {
  if (!revenue || !Object.hasOwn(attributes, revenue.attribute)) return null;
  const value = attributes[revenue.attribute];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

type ValueForm = 'text' | 'part of a text' | 'number' | 'texts' | 'two numbers' | 'none';

/** Every operator of interface 2.10 with the form of its value. */
export const goalOperators: Record<'string' | 'numeric', Record<string, ValueForm>> = {
  string: {
    is: 'text',
    'is not': 'text',
    contains: 'part of a text',
    'does not contain': 'part of a text',
    'starts with': 'part of a text',
    'does not start with': 'part of a text',
    'ends with': 'part of a text',
    'does not end with': 'part of a text',
    'in the following': 'texts',
    'not in the following': 'texts',
    exists: 'none',
    'does not exist': 'none',
  },
  numeric: {
    'is equal to': 'number',
    'is not equal to': 'number',
    'is between': 'two numbers',
    'is not between': 'two numbers',
    'is greater than': 'number',
    'is less than': 'number',
    exists: 'none',
    'does not exist': 'none',
  },
};

const maxText = 1_024;
const maxTexts = 1_000;

/** Why a value does not fit an operator, or undefined when it does. Numbers may come as text, as the contract shows. */
export function goalValueFault(form: ValueForm, value: unknown): string | undefined {
  switch (form) {
    case 'none':
      return value === undefined ? undefined : 'must be omitted for this filter';
    case 'text':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : valueTextFault(value, 'must be a text');
    case 'part of a text':
      // Every text contains the empty one: a slip that would count everything, or nothing.
      return value === '' ? 'must not be empty' : goalValueFault('text', value);
    case 'texts': {
      if (!Array.isArray(value) || value.length === 0) return 'must be a list of texts';
      if (value.length > maxTexts) return `must have at most ${maxTexts} items`;
      return value.map((item) => valueTextFault(item, 'must be a list of texts')).find((fault) => fault !== undefined);
    }
    case 'number':
      return isNumber(value) ? undefined : 'must be a number';
    case 'two numbers':
      return readTwoNumbers(value) ? undefined : 'must be two numbers separated by a comma';
    default:
      return unknownCase(form);
  }
}

/** The bounds of `is between`, two numbers in one string joined by a comma; undefined if the value has another form. */
export function readTwoNumbers(value: unknown): [number, number] | undefined {
  const parts = typeof value === 'string' ? value.split(',') : [];
  const [first, second] = parts;
  return parts.length === 2 && isNumber(first) && isNumber(second) ? [Number(first), Number(second)] : undefined;
}

function valueTextFault(value: unknown, otherwise: string): string | undefined {
  if (typeof value !== 'string') return otherwise;
  return value.length > maxText ? `must have at most ${maxText} characters` : textFault(value);
}

// Decimal: what else JavaScript takes for a number (0x1f, an empty text) is a slip.
const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

function isNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.length <= maxText && decimal.test(value) && Number.isFinite(Number(value));
}
