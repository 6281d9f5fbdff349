/** The steps of the composer, in the order in which a campaign is thought of. */
export const steps = {
  audience: { name: 'Audience', about: 'Who gets it' },
  content: { name: 'Content', about: 'What they see' },
  schedule: { name: 'Schedule and goals', about: 'When, and what for' },
  review: { name: 'Review', about: 'What will happen' },
} as const;

export type Step = keyof typeof steps;

export const stepNames = Object.keys(steps) as Step[];

const partsOfSteps: [prefix: string, step: Step][] = [
  ['basic_details.business_event', 'schedule'],
  ['basic_details', 'audience'],
  ['segmentation_details', 'audience'],
  ['campaign_content', 'content'],
  ['advanced', 'schedule'],
];

/** The step where a member of the campaign is written; what no field shows is told with the schedule. */
export function stepOf(field: string): Step {
  return partsOfSteps.find(([prefix]) => field === prefix || field.startsWith(`${prefix}.`))?.[1] ?? 'schedule';
}
