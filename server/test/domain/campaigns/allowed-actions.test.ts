import { describe, expect, test } from 'vitest';
import {
  isEditable,
  whyNotAllowed,
  campaignDeliveryTypes,
  campaignStatuses,
} from '../../../src/domain/campaigns/campaign.ts';
import type { CampaignDeliveryType, CampaignStatus } from '../../../src/domain/campaigns/campaign.ts';

const recurring = ['PERIODIC', 'EVENT_TRIGGERED', 'BUSINESS_EVENT_TRIGGERED'] as const;
type Row = [
  string,
  'V1' | 'V5',
  'STOP' | 'PAUSE' | 'RESUME' | 'PUBLISH',
  readonly CampaignDeliveryType[],
  CampaignStatus[],
];

describe('an allowed action (fact 6.3)', () => {
  const rows: Row[] = [
    ['stopping in V1, of what is scheduled', 'V1', 'STOP', ['ONE_TIME'], ['SCHEDULED']],
    ['stopping in V5, until it is sent', 'V5', 'STOP', ['ONE_TIME'], ['SCHEDULED', 'PAUSED', 'SENDING']],
    ['pausing in V1', 'V1', 'PAUSE', recurring, ['ACTIVE']],
    ['pausing in V5', 'V5', 'PAUSE', recurring, ['ACTIVE']],
    ['resuming in V1', 'V1', 'RESUME', recurring, ['PAUSED']],
    ['resuming in V5', 'V5', 'RESUME', recurring, ['PAUSED']],
    ['publishing, whatever it is (decision 0014)', 'V5', 'PUBLISH', campaignDeliveryTypes, ['DRAFT']],
  ];

  test.each(rows)('is %s', (_what, ...[version, action, types, from]) => {
    for (const deliveryType of campaignDeliveryTypes)
      for (const status of campaignStatuses) {
        const wanted = !types.includes(deliveryType)
          ? `${deliveryType} campaign`
          : from.includes(status)
            ? undefined
            : `${deliveryType} campaign that is ${status}`;
        expect(whyNotAllowed(action, { version, deliveryType, status })).toBe(wanted);
      }
  });
});

describe('a campaign (decision 0015)', () => {
  const editable = { ONE_TIME: ['ACTIVE', 'DRAFT', 'SCHEDULED'], PERIODIC: ['ACTIVE', 'DRAFT', 'PAUSED', 'SCHEDULED'] };

  test.each(['ONE_TIME', 'PERIODIC'] as const)('can be changed until it ends: %s', (deliveryType) => {
    const found = campaignStatuses.filter((status) => isEditable({ status, deliveryType, parts: {} }));
    expect(found.sort()).toEqual(editable[deliveryType]);
  });

  test('cannot be changed if it comes from the push API, because it has no parts', () => {
    for (const status of campaignStatuses)
      expect(isEditable({ status, deliveryType: 'PERIODIC', parts: null })).toBe(false);
  });
});
