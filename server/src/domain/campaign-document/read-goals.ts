import { goalOperators, goalValueFault } from '../campaigns/conversion-goal.ts';
import type { ConversionGoal } from '../campaigns/conversion-goal.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { conversionWindowHours, maxConversionGoals } from '../campaigns/limits.ts';

const maxName = 256;

/**
 * `conversion_goal_details` (fact 6.2). The first goal is the primary one; there is no revenue, and one window for all.
 */
export function readGoals(details: RequestReader): ConversionGoal[] {
  const hours = { minimum: conversionWindowHours, maximum: conversionWindowHours };
  details.integer('attribution_window_in_hours', hours);
  return details.parts('goals', maxConversionGoals).map((goal, index) => {
    goal.refuse('revenue_attribute', 'revenue_currency');
    if (goal.flag('is_primary_goal') === true && index > 0)
      goal.invalid('is_primary_goal', 'must be false: the first goal is the primary one');
    const attribute = readAttribute(goal);
    return {
      name: goal.requiredText('goal_name', maxName),
      eventName: goal.requiredText('goal_event_name', maxName),
      ...(attribute === undefined ? {} : { attribute }),
    };
  });
}

/** The members of the push API's `attrs` (interface 2.10), `operator` for its `filter`. */
function readAttribute(goal: RequestReader): ConversionGoal['attribute'] {
  if (goal.get('goal_event_attribute') === undefined) return undefined;
  const part = goal.part('goal_event_attribute');
  const name = part.requiredText('name', maxName);
  part.requires('type');
  part.requires('operator');
  const type = part.choice('type', ['string', 'numeric']);
  if (type === undefined) return undefined;
  const operator = part.choice('operator', Object.keys(goalOperators[type]));
  if (operator === undefined) return undefined;
  const value = part.get('value');
  const fault = goalValueFault(goalOperators[type][operator]!, value);
  if (fault !== undefined) part.invalid('value', fault);
  return { name, type, operator, ...(value === undefined ? {} : { value: value as string | number | string[] }) };
}
