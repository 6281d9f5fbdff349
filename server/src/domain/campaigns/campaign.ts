import { unknownCase } from '../unknown-case.ts';

/** All values of `campaigns.status` (decision D46). */
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

/** `recurring`: periodic and event-triggered campaigns. */
export type CampaignKind = 'one-time' | 'recurring';

/** The actions that a user may request. */
export const campaignActions = ['pause', 'resume', 'stop'] as const;
export type CampaignAction = (typeof campaignActions)[number];

export type CampaignTransition = {
  kind: CampaignKind;
  from: CampaignStatus;
  to: CampaignStatus;
  /** An action of a user, or a change that the engine detected. */
  by:
    | CampaignAction
    | 'publishing'
    | 'recalling'
    | 'a new version'
    | 'its expiry'
    | 'its occurrence'
    | 'a missed occurrence'
    | 'the end of its runs'
    | 'a failed run'
    | 'a joining request';
};

/** The only table of transitions. docs/states.md shows it, and the constraints of the database table allow its values. */
export const campaignTransitions: readonly CampaignTransition[] = [
  { kind: 'one-time', from: 'DRAFT', to: 'SCHEDULED', by: 'publishing' },
  { kind: 'one-time', from: 'DRAFT', to: 'SENDING', by: 'publishing' },
  { kind: 'one-time', from: 'SCHEDULED', to: 'DRAFT', by: 'recalling' },
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
  { kind: 'recurring', from: 'ACTIVE', to: 'DRAFT', by: 'recalling' },
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
  /** True if the occurrence is still ahead, or became due while the campaign was paused. */
  hasOccurrence: boolean;
};

/** Returns the status after an action, or undefined if the campaign's state does not allow it. */
export function statusAfter(action: CampaignAction, state: CampaignState): CampaignStatus | undefined {
  const found = campaignTransitions.filter(
    ({ kind, from, by }) => kind === state.kind && from === state.status && by === action,
  );
  // A resumed one-time campaign waits for its occurrence again, or continues its run.
  const wanted = found.length > 1 ? (state.hasOccurrence ? 'SCHEDULED' : 'SENDING') : found[0]?.to;
  return found.find(({ to }) => to === wanted)?.to;
}

/**
 * Returns why a published campaign cannot become a draft again, in the words that follow "is not valid for a"; undefined if it can. Events
 * may have started a triggered campaign already, and a revised campaign has been live in another version.
 */
export function whyNotRecalled({ deliveryType, status, isRevised }: RecallQuestion): string | undefined {
  if (deliveryType === 'EVENT_TRIGGERED') return `${deliveryType} campaign`;
  if (isRevised) return 'campaign that was revised';
  const kind = deliveryType === 'ONE_TIME' ? 'one-time' : 'recurring';
  const isPossible = campaignTransitions.some(
    (one) => one.kind === kind && one.from === status && one.by === 'recalling',
  );
  return isPossible ? undefined : `${deliveryType} campaign that is ${status}`;
}

export type RecallQuestion = { deliveryType: CampaignDeliveryType; status: CampaignStatus; isRevised: boolean };

/** The actions of the campaign API. PUBLISH is our extension for every type (docs/decisions/0014). */
export const statusActions = { V1: ['STOP', 'PAUSE', 'RESUME'], V5: ['STOP', 'PAUSE', 'RESUME', 'PUBLISH'] } as const;
export type StatusAction = (typeof statusActions)[SearchVersion][number];

export type ActionQuestion = { version: SearchVersion; deliveryType: CampaignDeliveryType; status: CampaignStatus };

/**
 * Returns why a version does not allow an action on a campaign (fact 6.3), in the words that follow "is not valid for a";
 * undefined if it does. The table of transitions may still forbid the action.
 */
export function whyNotAllowed(action: StatusAction, { version, deliveryType, status }: ActionQuestion) {
  const isOneTime = deliveryType === 'ONE_TIME';
  const isOfType = action === 'PUBLISH' || (action === 'STOP') === isOneTime;
  if (!isOfType) return `${deliveryType} campaign`;
  return fromStatuses(action, version).includes(status) ? undefined : `${deliveryType} campaign that is ${status}`;
}

function fromStatuses(action: StatusAction, version: SearchVersion): readonly CampaignStatus[] {
  switch (action) {
    case 'STOP':
      // The documented ACTIVE of a one-time campaign is SENDING here.
      return version === 'V1' ? ['SCHEDULED'] : ['SCHEDULED', 'PAUSED', 'SENDING'];
    case 'PAUSE':
      return ['ACTIVE'];
    case 'RESUME':
      return ['PAUSED'];
    case 'PUBLISH':
      return ['DRAFT'];
    default:
      return unknownCase(action);
  }
}

type Editable = { status: string; deliveryType: string; parts: object | null };

/** True if a campaign may be changed at all (docs/decisions/0015): the campaign API created it, and it is not over. */
export function isEditable({ status, deliveryType, parts }: Editable): boolean {
  if (parts === null) return false;
  if (status === 'PAUSED') return deliveryType !== 'ONE_TIME';
  return status === 'DRAFT' || status === 'SCHEDULED' || status === 'ACTIVE';
}

export const campaignChannels = ['PUSH', 'EMAIL', 'SMS'] as const;
export type CampaignChannel = (typeof campaignChannels)[number];

export const campaignDeliveryTypes = ['ONE_TIME', 'PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
export type CampaignDeliveryType = (typeof campaignDeliveryTypes)[number];

/** Documented delivery types that no campaign of this service has: a search for them finds nothing (fact 4.2). */
export const otherDeliveryTypes = [
  'DEVICE_TRIGGERED',
  'LOCATION_TRIGGERED',
  'BROADCAST_LIVE_ACTIVITY',
  'API_TRIGGERED',
] as const;

/** The two versions of the search interface. */
export type SearchVersion = 'V1' | 'V5';

/** The criteria of a search, in the words of neither version. Undefined: not a criterion. */
export type CampaignSearch = {
  ids: string[] | undefined;
  channels: CampaignChannel[] | undefined;
  createdBy: string[] | undefined;
  createdFrom: Date | undefined;
  /** Exclusive. */
  createdBefore: Date | undefined;
  deliveryTypes: string[] | undefined;
  /** Any part of the name, ignoring case. */
  name: string | undefined;
  statuses: CampaignStatus[] | undefined;
  /** A campaign matches if it has any of them. */
  tags: string[] | undefined;
  versionNumber: number | undefined;
  children: 'with' | 'without';
  archived: 'with' | 'without';
};

/** The criteria of a search after the rules of its version were applied. */
export type CampaignSelection = Omit<CampaignSearch, 'channels' | 'statuses' | 'archived'> & {
  channels: CampaignChannel[];
  statuses: CampaignStatus[];
  /** For a revised campaign: each version as a separate document, or only the newest. */
  versions: 'every' | 'newest';
};

/**
 * Applies the rules of an interface version to a search (interface 9). SMS campaigns: V1 never finds them, V5 only if the
 * search asks for them (interface 4.6, decision D41). Drafts: V1 finds them, V5 only if the search asks for them. V5 finds
 * each version of a campaign if the workspace has versioning enabled, otherwise only the newest. Archived campaigns are left
 * out unless included, even if the search asks for their status (fact 4.2).
 */
export function selectCampaigns(
  search: CampaignSearch,
  { version, versioning }: { version: SearchVersion; versioning: 'on' | 'off' },
): CampaignSelection {
  const { channels, statuses, archived, ...rest } = search;
  const hidesDrafts = version === 'V5' && statuses === undefined;
  return {
    ...rest,
    channels: (channels ?? ['PUSH', 'EMAIL']).filter((channel) => version === 'V5' || channel !== 'SMS'),
    statuses: (statuses ?? campaignStatuses).filter(
      (status) => !(status === 'ARCHIVED' && archived === 'without') && !(status === 'DRAFT' && hidesDrafts),
    ),
    versions: version === 'V5' && versioning === 'on' ? 'every' : 'newest',
  };
}
