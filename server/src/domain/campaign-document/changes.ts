import type { RequestFault } from '../../fields/reading-rules.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { Timing } from '../timing/timing.ts';
import { unknownCase } from '../unknown-case.ts';
import type { CampaignParts } from './campaign.ts';

const kindOfSchedule = ['campaign_delivery_type', 'scheduling_details.delivery_type'];

/**
 * Fact 6.3: the kind of schedule of a scheduled campaign cannot change. Nor can the audience and goals of a live campaign.
 */
const frozen = {
  waiting: kindOfSchedule,
  live: [
    ...kindOfSchedule,
    'basic_details.business_event',
    'trigger_condition',
    'segmentation_details',
    // The apps are part of the audience.
    'advanced.app_ids',
    // So is the topic: without it, the campaign would reach users who left it.
    'advanced.topic',
    'conversion_goal_details',
  ],
} as const;

export type Change = { before: CampaignParts; after: CampaignParts; state: keyof typeof frozen };

/** Returns the members that a change touches although a campaign in this state does not allow it. */
export function whatMayNotChange({ before, after, state }: Change): RequestFault[] {
  const changed = frozen[state].filter((path) => textOf(before, path) !== textOf(after, path));
  return changed.map((field) => ({ field, reason: 'cannot be changed once the campaign is published' }));
}

/** Returns when a recurring campaign began, which is the same in all of its versions. */
export function startOf(timing: Timing): string {
  switch (timing.kind) {
    case 'periodic':
    case 'calendar':
      return `${timing.firstDate}T${timing.time} ${timing.timeZone}`;
    case 'triggered':
      return timing.startsAt ?? '';
    case 'soon':
    case 'later':
      return timing.kind;
    default:
      return unknownCase(timing);
  }
}

/** Returns a text for comparison that does not depend on the order of members. */
function textOf(parts: CampaignParts, path: string): string {
  const value = path.split('.').reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), parts);
  return JSON.stringify(sorted(value)) ?? '';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

/**
 * Applies a change to the parts of a campaign: objects are merged, null removes a member, any other value replaces it
 * (JSON Merge Patch, RFC 7396).
 */
export function mergeParts(present: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const merged = new Map(Object.entries(present));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) merged.delete(name);
    else if (isObject(value)) {
      const before = merged.get(name);
      merged.set(name, mergeParts(isObject(before) ? before : {}, value));
    } else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
