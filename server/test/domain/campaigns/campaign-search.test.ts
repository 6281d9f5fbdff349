import { describe, expect, test } from 'vitest';
import { selectCampaigns, campaignStatuses } from '../../../src/domain/campaigns/campaign.ts';
import type { CampaignSearch, SearchVersion } from '../../../src/domain/campaigns/campaign.ts';

const anything: CampaignSearch = {
  ...{ ids: undefined, channels: undefined, createdBy: undefined, createdFrom: undefined, createdBefore: undefined },
  ...{ deliveryTypes: undefined, name: undefined, statuses: undefined, tags: undefined, versionNumber: undefined },
  ...{ children: 'without', archived: 'without' },
};
const select = (version: SearchVersion, more: Partial<CampaignSearch> = {}, versioning: 'on' | 'off' = 'off') =>
  selectCampaigns({ ...anything, ...more }, { version, versioning });
const without = (...left: string[]) => campaignStatuses.filter((status) => !left.includes(status));

describe('a campaign search', () => {
  test.each([
    ['V1', undefined, ['PUSH', 'EMAIL']],
    ['V5', undefined, ['PUSH', 'EMAIL']],
    ['V1', ['SMS'], []],
    ['V1', ['SMS', 'PUSH'], ['PUSH']],
    ['V5', ['SMS'], ['SMS']],
    ['V5', ['SMS', 'PUSH', 'EMAIL'], ['SMS', 'PUSH', 'EMAIL']],
  ] as const)('filters by channel: %s, asked for %j (interface 9 difference 8)', (version, channels, seen) => {
    expect(select(version, { channels: channels && [...channels] }).channels).toEqual(seen);
  });

  test.each([
    ['V1 finds drafts', 'V1', { statuses: undefined }, without('ARCHIVED')],
    ['V5 leaves them out', 'V5', { statuses: undefined }, without('ARCHIVED', 'DRAFT')],
    ['unless it is asked for them', 'V5', { statuses: ['DRAFT', 'SENT'] }, ['DRAFT', 'SENT']],
    ['V1 too', 'V1', { statuses: ['DRAFT'] }, ['DRAFT']],
    ['archived ones stay out when their status is asked for', 'V1', { statuses: ['ARCHIVED', 'SENT'] }, ['SENT']],
    ['and in V5', 'V5', { statuses: ['ARCHIVED'] }, []],
    ['they are included when that is asked for', 'V1', { archived: 'with' }, without()],
    ['and in V5, but for drafts', 'V5', { archived: 'with' }, without('DRAFT')],
    ['with a status', 'V5', { archived: 'with', statuses: ['ARCHIVED'] }, ['ARCHIVED']],
  ] as [string, SearchVersion, Partial<CampaignSearch>, string[]][])(
    'filters by status: %s (fact 4.2, interface 9 difference 5)',
    (_what, ...[version, more, seen]) => {
      expect(select(version, more).statuses).toEqual(seen);
    },
  );

  test('finds every version of a campaign in V5 if there are versions (interface 9 difference 6)', () => {
    expect(select('V5', {}, 'on').versions).toBe('every');
    expect([select('V5'), select('V1', {}, 'on'), select('V1')].map(({ versions }) => versions)).toEqual(
      new Array(3).fill('newest'),
    );
  });

  test('applies all other filters the same in both versions', () => {
    const asked = {
      ...{ ids: ['a'], createdBy: ['ada'], createdFrom: new Date(1), createdBefore: new Date(2), tags: ['t'] },
      ...{ deliveryTypes: ['ONE_TIME'], name: 'sale', versionNumber: 3, children: 'with' as const },
    };
    for (const version of ['V1', 'V5'] as const) {
      const { channels: _channels, statuses: _statuses, versions: _versions, ...rest } = select(version, asked);
      expect(rest).toStrictEqual(asked);
    }
  });
});
