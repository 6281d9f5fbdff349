import type { CampaignDeliveryType, SearchVersion } from './campaign-search.ts';
import type { CampaignStatus } from './campaign-states.ts';
import { unknownCase } from '../unknown-case.ts';

/** The words of the campaign API. PUBLISH is ours for every type (docs/decisions/0014). */
export const statusActions = { V1: ['STOP', 'PAUSE', 'RESUME'], V5: ['STOP', 'PAUSE', 'RESUME', 'PUBLISH'] } as const;
export type StatusAction = (typeof statusActions)[SearchVersion][number];

export type ActionQuestion = { version: SearchVersion; deliveryType: CampaignDeliveryType; status: CampaignStatus };

/**
 * Why a version does not let an action happen to a campaign (fact 6.3), in the words that follow "is not valid for a";
 * undefined when it does. The states themselves may still refuse.
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

/** Whether a campaign may be changed at all (docs/decisions/0015): made by the campaign API, and not over. */
export function isEditable({ status, deliveryType, parts }: Editable): boolean {
  if (parts === null) return false;
  if (status === 'PAUSED') return deliveryType !== 'ONE_TIME';
  return status === 'DRAFT' || status === 'SCHEDULED' || status === 'ACTIVE';
}
