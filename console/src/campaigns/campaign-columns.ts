import type { ColumnSet } from '../parts/shown-columns.ts';

export type CampaignColumn = 'type' | 'reachable' | 'accepted' | 'shown' | 'clicked' | 'sent' | 'created';

/** What a list may say of a campaign besides its name and status. */
export const campaignColumns: ColumnSet<CampaignColumn> = {
  names: {
    type: 'Type',
    reachable: 'Reachable',
    accepted: 'Accepted',
    shown: 'Shown',
    clicked: 'Clicked',
    sent: 'Last sent',
    created: 'Created',
  },
  usual: ['type', 'accepted', 'shown', 'clicked', 'sent', 'created'],
};
