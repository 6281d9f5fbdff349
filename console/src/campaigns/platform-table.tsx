import { Title } from '@mantine/core';
import type { CampaignProgress, DeliveryOutcome } from '../api/generated/campaign.ts';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { countDevices, countReports, notDelivered } from './count-devices.ts';
import { DeliveryCount } from './delivery-count.tsx';

export function PlatformTable({ progress, platforms }: { progress: CampaignProgress; platforms: string[] }) {
  const rows = (['ANDROID', 'IOS', 'WEB'] as const).filter((platform) => platforms.includes(platform));
  const column = (title: string, count: (platform: string) => number) => ({
    key: title,
    title,
    isNumber: true,
    cell: (platform: string) => count(platform).toLocaleString('en'),
  });
  // A number leads to what it counts; of several outcomes to the rows of all, whose outcomes stand in them.
  const devices = (title: string, outcomes: DeliveryOutcome[]) => ({
    key: title,
    title,
    isNumber: true,
    cell: (platform: string) => {
      const found = outcomes.filter((outcome) => countDevices(progress, [outcome], platform) > 0);
      return (
        <DeliveryCount
          count={countDevices(progress, outcomes, platform)}
          of={{ platform, ...(found.length === 1 && { outcome: found[0]! }) }}
        />
      );
    },
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
          devices('Accepted', ['ACCEPTED']),
          devices('Waiting', ['WAITING']),
          devices('Not delivered', notDelivered),
          column('Shown', (platform) => countReports(progress, 'IMPRESSION', platform)),
          column('Clicked', (platform) => countReports(progress, 'CLICK', platform)),
        ]}
      />
    </section>
  );
}
