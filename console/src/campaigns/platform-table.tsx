import { Anchor, Title } from '@mantine/core';
import type { CampaignProgress } from '../api/generated/campaign.ts';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { countDevices, countReports, notDelivered } from './count-devices.ts';

export function PlatformTable({ progress, platforms }: { progress: CampaignProgress; platforms: string[] }) {
  const rows = (['ANDROID', 'IOS', 'WEB'] as const).filter((platform) => platforms.includes(platform));
  const column = (title: string, count: (platform: string) => number) => ({
    key: title,
    title,
    isNumber: true,
    cell: (platform: string) => count(platform).toLocaleString('en'),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Per platform
      </Title>
      <DataTable
        label="Per platform"
        rows={rows}
        keyOf={(platform) => platform}
        columns={[
          { key: 'platform', title: 'Platform', cell: (platform) => platformNames[platform] },
          column('Accepted', (platform) => countDevices(progress, ['ACCEPTED'], platform)),
          column('Waiting', (platform) => countDevices(progress, ['WAITING'], platform)),
          {
            key: 'not',
            title: 'Not delivered',
            isNumber: true,
            // A number leads to what it counts.
            cell: (platform) => (
              <Anchor href="#errors" underline="always" inherit>
                {countDevices(progress, notDelivered, platform).toLocaleString('en')}
              </Anchor>
            ),
          },
          column('Shown', (platform) => countReports(progress, 'IMPRESSION', platform)),
          column('Clicked', (platform) => countReports(progress, 'CLICK', platform)),
        ]}
      />
    </section>
  );
}
