/** An event that counts as success of a campaign (interface 2.10). */
export type ConversionGoal = {
  name: string;
  eventName: string;
  attribute?: { name: string; type: 'string' | 'numeric'; operator: string; value?: string | number | string[] };
};

type ValueForm = 'text' | 'number' | 'texts' | 'two numbers' | 'none';

/** Every operator of interface 2.10 with the form of its value. */
export const goalOperators: Record<'string' | 'numeric', Record<string, ValueForm>> = {
  string: {
    is: 'text',
    'is not': 'text',
    contains: 'text',
    'does not contain': 'text',
    'starts with': 'text',
    'does not start with': 'text',
    'ends with': 'text',
    'does not end with': 'text',
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

/** Why a value does not fit an operator, or undefined when it does. Numbers may come as text, as the contract shows. */
export function goalValueFault(form: ValueForm, value: unknown): string | undefined {
  switch (form) {
    case 'none':
      return value === undefined ? undefined : 'must be omitted for this filter';
    case 'text':
      return typeof value === 'string' || typeof value === 'number' ? undefined : 'must be a text';
    case 'texts':
      return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
        ? undefined
        : 'must be a list of texts';
    case 'number':
      return isNumber(value) ? undefined : 'must be a number';
    case 'two numbers': {
      const parts = typeof value === 'string' ? value.split(',') : [];
      return parts.length === 2 && parts.every(isNumber) ? undefined : 'must be two numbers separated by a comma';
    }
    default: {
      const never: never = form;
      throw new Error(`unknown form ${String(never)}`);
    }
  }
}

function isNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
}
