import { useNavigate, useSearch } from '@tanstack/react-router';
import { textOf } from '../shell/address-search.ts';
import type { AddressSearch } from '../shell/address-search.ts';

/** The steps of the composer, in their order. */
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
  ['advanced.topic', 'audience'],
  ['advanced.inbox', 'audience'],
  ['advanced', 'schedule'],
];

/** Returns the step that edits a member of the campaign. The schedule step reports faults that have no field. */
export function stepOf(field: string): Step {
  return partsOfSteps.find(([prefix]) => field === prefix || field.startsWith(`${prefix}.`))?.[1] ?? 'schedule';
}

/** The search parameters: the step, the user of the previews, and the segment of a new campaign. */
type ComposerSearch = { step?: Step; as?: string; segment?: string };

export function readComposerSearch(search: AddressSearch): ComposerSearch {
  const step = textOf(search.step);
  const as = textOf(search.as);
  const segment = textOf(search.segment);
  return {
    ...(step !== undefined && step in steps ? { step: step as Step } : {}),
    ...(as === undefined ? {} : { as }),
    ...(segment === undefined ? {} : { segment }),
  };
}

/** Returns the step that the address names. */
export function useStep(): { step: Step; go: (step: Step) => void } {
  const { step = 'audience' } = useSearch({ strict: false }) as { step?: Step };
  const navigate = useNavigate();
  return {
    step: step in steps ? step : 'audience',
    go(next) {
      const changed = (search: Record<string, unknown>) => ({ ...search, step: next });
      void navigate({ to: '.', search: changed as never });
    },
  };
}
