import { goalOperators, goalValueFault } from '../campaigns/conversion-goal.ts';
import type { ConversionGoal } from '../campaigns/conversion-goal.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { conversionWindowHours, maxConversionGoals, maxConversionWindowHours } from '../campaigns/limits.ts';

const maxName = 256;

/**
 * `conversion_goal_details` (fact 6.2). The first goal is the primary one; there is one window for all.
 */
export function readGoals(details: RequestReader): ConversionGoal[] {
  const hours = { minimum: 1, maximum: maxConversionWindowHours };
  const given = details.integer('attribution_window_in_hours', hours);
  const windowHours = given === conversionWindowHours ? undefined : given;
  return details.parts('goals', maxConversionGoals).map((goal, index) => {
    if (goal.flag('is_primary_goal') === true && index > 0)
      goal.invalid('is_primary_goal', 'must be false: the first goal is the primary one');
    const attribute = readAttribute(goal);
    const revenue = readRevenue(goal);
    return {
      name: goal.requiredText('goal_name', maxName),
      eventName: goal.requiredText('goal_event_name', maxName),
      ...(attribute === undefined ? {} : { attribute }),
      ...(windowHours === undefined ? {} : { windowHours }),
      ...(revenue === undefined ? {} : { revenue }),
    };
  });
}

/** A number of the event; the currency is told with the sum, and nothing is converted. */
function readRevenue(goal: RequestReader): ConversionGoal['revenue'] {
  const attribute = goal.text('revenue_attribute', maxName);
  const currency = goal.text('revenue_currency', maxName);
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    goal.invalid('revenue_currency', 'must be a code of three letters (ISO 4217)');
  if (attribute === undefined) {
    if (currency !== undefined) goal.invalid('revenue_currency', 'needs revenue_attribute');
    return undefined;
  }
  return { attribute, ...(currency === undefined ? {} : { currency }) };
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
