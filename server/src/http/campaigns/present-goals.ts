import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';

/** `conversion_goal_details` (fact 6.2). */
export function presentGoals(stored: unknown) {
  const goals = Array.isArray(stored) ? (stored as Partial<ConversionGoal>[]) : [];
  const [first] = goals;
  return {
    ...(first?.windowHours === undefined ? {} : { attribution_window_in_hours: first.windowHours }),
    goals: goals.map(({ name, eventName, attribute, revenue }) => ({
      goal_name: name,
      goal_event_name: eventName,
      ...(attribute ? { goal_event_attribute: attribute } : {}),
      ...(revenue ? { revenue_attribute: revenue.attribute, revenue_currency: revenue.currency } : {}),
    })),
  };
}
