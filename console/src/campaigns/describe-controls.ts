import { countText } from './figure-text.ts';
import { members } from './sent-messages.ts';

type Members = Record<string, unknown>;

/** How it is delivered and what counts as success, of the body of V5: name and words, those alone that are set. */
export function describeControls(body: Members): [string, string][] {
  const controls = members(body.delivery_controls);
  const limit = members(body.campaign_audience_limit);
  const groups = members(body.control_group_details);
  const goals = members(body.conversion_goal_details);
  const passes = [
    controls.bypass_dnd === true ? 'quiet hours' : '',
    controls.ignore_frequency_capping === true ? 'frequency caps' : '',
    controls.ignore_global_minimum_delay === true ? 'the minimum delay' : '',
  ].filter((word) => word !== '');
  const rate = Number(controls.campaign_throttle_rpm ?? 0);
  const names = (Array.isArray(goals.goals) ? goals.goals : []).map(members);
  const facts: [string, string][] = [
    ['Speed', rate > 0 ? `At most ${countText(rate)} devices a minute` : 'As fast as the providers take it'],
    ['Limits', passes.length === 0 ? 'Keeps quiet hours, caps and the minimum delay' : `Ignores ${passes.join(', ')}`],
    [
      'Goals',
      names.length === 0
        ? 'None'
        : names.map((goal) => `${String(goal.goal_name)} (${String(goal.goal_event_name)})`).join(', '),
    ],
  ];
  if (groups.is_campaign_control_group_enabled === true)
    facts.push(['Control group', `${String(groups.campaign_control_group_percentage ?? 0)} % of the audience`]);
  if (limit.limit !== undefined)
    facts.push([
      'Audience limit',
      `${countText(Number(limit.limit))} people ${limit.frequency === 'INSTANCE' ? 'in each run' : 'in all'}`,
    ]);
  return facts;
}
