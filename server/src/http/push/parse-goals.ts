import { goalOperators, goalValueFault } from '../../domain/campaigns/conversion-goal.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import type { FieldReader } from './field-reader.ts';

const maxGoals = 5;

/** Reads `conversionGoals` (interface 2.10): at most five, each operator with the value it takes. */
export function parseGoals(reader: FieldReader, value: unknown): ConversionGoal[] {
  const items = reader.list(value, 'conversionGoals', maxGoals) ?? [];
  return items.map((item, index) => {
    const at = `conversionGoals[${index}]`;
    const goal = reader.record(item, at) ?? {};
    const attribute = parseAttribute(reader, goal.attrs, `${at}.attrs`);
    return {
      name: reader.requiredText(goal.name, `${at}.name`, { longest: 256 }),
      eventName: reader.requiredText(goal.eventName, `${at}.eventName`, { longest: 256 }),
      ...(attribute === undefined ? {} : { attribute }),
    };
  });
}

function parseAttribute(reader: FieldReader, value: unknown, at: string): ConversionGoal['attribute'] {
  const attrs = reader.record(value, at);
  if (!attrs) return undefined;
  const name = reader.requiredText(attrs.name, `${at}.name`, { longest: 256 });
  if (attrs.type === undefined) reader.invalid(`${at}.type`, 'is required');
  if (attrs.filter === undefined) reader.invalid(`${at}.filter`, 'is required');
  const type = reader.choice(attrs.type, `${at}.type`, ['string', 'numeric'] as const);
  if (type === undefined || attrs.filter === undefined) return undefined;
  const operator = reader.choice(attrs.filter, `${at}.filter`, Object.keys(goalOperators[type]));
  if (operator === undefined) return undefined;
  const fault = goalValueFault(goalOperators[type][operator]!, attrs.value);
  if (fault !== undefined) reader.invalid(`${at}.value`, fault);
  const attribute = { name, type, operator };
  return attrs.value === undefined ? attribute : { ...attribute, value: attrs.value as string | number | string[] };
}
