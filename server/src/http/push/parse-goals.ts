import { goalOperators, goalValueFault } from '../../domain/campaigns/conversion-goal.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { maxConversionGoals } from '../../domain/campaigns/limits.ts';

/** Reads `conversionGoals` (interface 2.10): at most five, each operator with the value it takes. */
export function parseGoals(body: RequestReader): ConversionGoal[] {
  const goals = body.items('conversionGoals', maxConversionGoals);
  return goals.names().map((index) => {
    const goal = goals.part(index);
    const attribute = parseAttribute(goal.findPart('attrs'));
    return {
      name: goal.requiredText('name', 256),
      eventName: goal.requiredText('eventName', 256),
      ...(attribute === undefined ? {} : { attribute }),
    };
  });
}

function parseAttribute(attrs: RequestReader | undefined): ConversionGoal['attribute'] {
  if (!attrs) return undefined;
  const name = attrs.requiredText('name', 256);
  attrs.requires('type');
  attrs.requires('filter');
  const type = attrs.choice('type', ['string', 'numeric']);
  const operator = type && attrs.choice('filter', Object.keys(goalOperators[type]));
  if (type === undefined || operator === undefined) return undefined;
  // An empty text is a value of its own: an attribute may be compared with it.
  const isEmptyText = attrs.members.value === '' && goalOperators[type][operator] !== 'none';
  const value = isEmptyText ? '' : attrs.get('value');
  const fault = goalValueFault(goalOperators[type][operator]!, value);
  if (fault !== undefined) attrs.invalid('value', fault);
  const attribute = { name, type, operator };
  return value === undefined ? attribute : { ...attribute, value: value as string | number | string[] };
}
