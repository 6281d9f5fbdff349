/** The operators of a goal's attribute, with the type of their value (the same as domain/campaigns/conversions.ts). */
export const goalOperators = {
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
} as const satisfies Record<string, Record<string, 'text' | 'texts' | 'number' | 'two numbers' | 'none'>>;

export type GoalType = keyof typeof goalOperators;

export function operatorsOf(type: GoalType): string[] {
  return Object.keys(goalOperators[type]);
}

export function valueForm(type: GoalType, operator: string): 'text' | 'texts' | 'number' | 'two numbers' | 'none' {
  return (
    (goalOperators[type] as Record<string, 'text' | 'texts' | 'number' | 'two numbers' | 'none'>)[operator] ?? 'text'
  );
}
