/** Every word of `campaigns.status` (decision D46). */
export const campaignStatuses = [
  'DRAFT',
  'SCHEDULED',
  'SENDING',
  'SENT',
  'ACTIVE',
  'PAUSED',
  'RETIRED',
  'STOPPED',
  'FAILED',
  'ARCHIVED',
] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/** `recurring`: periodic and event-triggered ones. */
export type CampaignKind = 'one-time' | 'recurring';

/** What a person may ask for. */
export const campaignActions = ['pause', 'resume', 'stop'] as const;
export type CampaignAction = (typeof campaignActions)[number];

export type CampaignTransition = {
  kind: CampaignKind;
  from: CampaignStatus;
  to: CampaignStatus;
  /** An action, or what the engine noticed. */
  by:
    | CampaignAction
    | 'publishing'
    | 'a new version'
    | 'its expiry'
    | 'its occurrence'
    | 'a missed occurrence'
    | 'the end of its runs'
    | 'a failed run'
    | 'a joining request';
};

/** The one table of transitions; docs/states.md shows it and the constraints of the table allow its words. */
export const campaignTransitions: readonly CampaignTransition[] = [
  { kind: 'one-time', from: 'DRAFT', to: 'SCHEDULED', by: 'publishing' },
  { kind: 'one-time', from: 'DRAFT', to: 'SENDING', by: 'publishing' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'SENDING', by: 'its occurrence' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'FAILED', by: 'a missed occurrence' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'FAILED', by: 'a failed run' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'PAUSED', by: 'pause' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'STOPPED', by: 'stop' },
  { kind: 'one-time', from: 'SENDING', to: 'SENT', by: 'the end of its runs' },
  { kind: 'one-time', from: 'SENDING', to: 'FAILED', by: 'a failed run' },
  { kind: 'one-time', from: 'SENDING', to: 'PAUSED', by: 'pause' },
  { kind: 'one-time', from: 'SENDING', to: 'STOPPED', by: 'stop' },
  { kind: 'one-time', from: 'PAUSED', to: 'SCHEDULED', by: 'resume' },
  { kind: 'one-time', from: 'PAUSED', to: 'SENDING', by: 'resume' },
  { kind: 'one-time', from: 'PAUSED', to: 'STOPPED', by: 'stop' },
  { kind: 'one-time', from: 'SENT', to: 'SENDING', by: 'a joining request' },
  { kind: 'one-time', from: 'FAILED', to: 'SENDING', by: 'a joining request' },
  { kind: 'recurring', from: 'DRAFT', to: 'ACTIVE', by: 'publishing' },
  { kind: 'recurring', from: 'ACTIVE', to: 'PAUSED', by: 'pause' },
  { kind: 'recurring', from: 'ACTIVE', to: 'STOPPED', by: 'stop' },
  { kind: 'recurring', from: 'ACTIVE', to: 'RETIRED', by: 'the end of its runs' },
  { kind: 'recurring', from: 'ACTIVE', to: 'RETIRED', by: 'its expiry' },
  { kind: 'recurring', from: 'ACTIVE', to: 'RETIRED', by: 'a new version' },
  { kind: 'recurring', from: 'PAUSED', to: 'RETIRED', by: 'a new version' },
  { kind: 'recurring', from: 'PAUSED', to: 'ACTIVE', by: 'resume' },
  { kind: 'recurring', from: 'PAUSED', to: 'STOPPED', by: 'stop' },
];

export type CampaignState = {
  kind: CampaignKind;
  status: CampaignStatus;
  /** Whether the occurrence is still ahead, or became due while the campaign was paused. */
  hasOccurrence: boolean;
};

/** The status an action leads to, or undefined when the campaign's state does not allow it. */
export function statusAfter(action: CampaignAction, state: CampaignState): CampaignStatus | undefined {
  const found = campaignTransitions.filter(
    ({ kind, from, by }) => kind === state.kind && from === state.status && by === action,
  );
  // A resumed one-time campaign waits for its occurrence again, or continues its run.
  const wanted = found.length > 1 ? (state.hasOccurrence ? 'SCHEDULED' : 'SENDING') : found[0]?.to;
  return found.find(({ to }) => to === wanted)?.to;
}
