/** Types of values as the data API knows them (a moment is a text in ISO 8601). */
export const valueKinds = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  json: 'List or object (JSON)',
} as const;
export type ValueKind = keyof typeof valueKinds;

export function kindOf(value: unknown): ValueKind {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'json';
}

export function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a person typed, as a value of a type; what it may hold is the server's to say. */
export function parseValue(typed: string, kind: ValueKind): { value: unknown } | { fault: string } {
  switch (kind) {
    case 'text':
      return { value: typed };
    case 'number': {
      const value = Number(typed);
      return typed.trim() === '' || !Number.isFinite(value) ? { fault: 'Not a number.' } : { value };
    }
    case 'boolean':
      return { value: typed === 'true' };
    case 'json':
      try {
        const value: unknown = JSON.parse(typed);
        return value === null ? { fault: 'null removes an attribute; use Remove instead.' } : { value };
      } catch {
        return { fault: 'Not valid JSON, such as ["S", "M"] or {"zip": "1100"}.' };
      }
  }
}
