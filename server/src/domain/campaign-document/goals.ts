import { goalOperators, goalValueFault } from '../campaigns/conversions.ts';
import type { ConversionGoal } from '../campaigns/conversions.ts';
import {
  anyObject,
  anything,
  flag,
  optional,
  partOrEmpty,
  parts,
  readWith,
  requiredText,
  text,
  whole,
  withDescription,
  word,
} from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { conversionWindowHours, maxConversionGoals, maxConversionWindowHours } from '../limits/campaigns.ts';

const maxDetailCharacters = 256;

/** The members of the push API's `attrs` (interface 2.10), with `operator` instead of `filter`. */
const attribute = partOrEmpty(
  {
    name: requiredText({ max: maxDetailCharacters }),
    type: word(['string', 'numeric']),
    operator: text(),
    value: anything,
  },
  {
    read(found, read): ConversionGoal['attribute'] {
      const name = read('name');
      found.requires('type');
      found.requires('operator');
      const type = read('type');
      if (type === undefined) return undefined;
      const operator = found.choice('operator', Object.keys(goalOperators[type]));
      if (operator === undefined) return undefined;
      const value = read('value');
      const fault = goalValueFault(goalOperators[type][operator]!, value);
      if (fault !== undefined) found.invalid('value', fault);
      return { name, type, operator, ...(value === undefined ? {} : { value: value as string | number | string[] }) };
    },
  },
);

const goal = partOrEmpty(
  {
    goal_name: optional(requiredText({ max: maxDetailCharacters })),
    goal_event_name: optional(requiredText({ max: maxDetailCharacters })),
    goal_event_attribute: readWith<NonNullable<ConversionGoal['attribute']>>(
      withDescription(anyObject, 'name, type, operator, value'),
      (found, name) => (found.get(name) === undefined ? undefined : attribute.read(found, name)),
    ),
    is_primary_goal: flag('The first goal'),
    revenue_attribute: text({
      max: maxDetailCharacters,
      description: 'The numeric event attribute that contains the revenue',
    }),
    revenue_currency: text({
      max: maxDetailCharacters,
      description: 'Three letters (ISO 4217); nothing is converted',
    }),
  },
  {
    read(found, read): ConversionGoal {
      const compared = read('goal_event_attribute');
      const revenue = readRevenue(found);
      return {
        name: read('goal_name'),
        eventName: read('goal_event_name'),
        ...(compared === undefined ? {} : { attribute: compared }),
        ...(revenue === undefined ? {} : { revenue }),
      };
    },
  },
);

/** Reads the attribute that holds an event's revenue. The currency is reported with the sum; amounts are not converted. */
function readRevenue(found: RequestReader): ConversionGoal['revenue'] {
  const read = reading(found, goal.members);
  const revenueAttribute = read('revenue_attribute');
  const currency = read('revenue_currency');
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    found.invalid('revenue_currency', 'must be a code of three letters (ISO 4217)');
  if (revenueAttribute === undefined) {
    if (currency !== undefined) found.invalid('revenue_currency', 'needs revenue_attribute');
    return undefined;
  }
  return { attribute: revenueAttribute, ...(currency === undefined ? {} : { currency }) };
}

/** `conversion_goal_details` (fact 6.2). The first goal is the primary one; all goals share one window. */
export const conversionGoals = partOrEmpty(
  {
    attribution_window_in_hours: whole(
      1,
      maxConversionWindowHours,
      'How long after a message an event counts; default 36',
    ),
    goals: readWith<ConversionGoal[]>(parts(goal, { max: maxConversionGoals }), (details, name) =>
      details.parts(name, maxConversionGoals).map((found, index) => {
        if (goal.members.is_primary_goal.read(found, 'is_primary_goal') === true && index > 0)
          found.invalid('is_primary_goal', 'must be false: the first goal is the primary one');
        return goal.readIn(found);
      }),
    ),
  },
  {
    title: 'CampaignGoals',
    read(_details, read): ConversionGoal[] {
      const given = read('attribution_window_in_hours');
      const windowHours = given === conversionWindowHours ? undefined : given;
      const found = read('goals') ?? [];
      if (windowHours === undefined) return found;
      return found.map(({ revenue, ...one }) => ({ ...one, windowHours, ...(revenue && { revenue }) }));
    },
  },
);
