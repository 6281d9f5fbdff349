import { Stack, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { CampaignProgress, CampaignResults, DeliveryOutcome } from '../api/generated/campaign-answers.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Definition } from '../parts/definition.tsx';
import type { GlossaryWord } from '../parts/glossary.ts';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { countDevices } from './count-devices.ts';
import { DeliveryCount } from './delivery-count.tsx';
import { Failures } from './failures.tsx';

type Platform = keyof typeof platformNames;

const outcomes: [DeliveryOutcome, GlossaryWord][] = [
  ['ACCEPTED', 'Accepted'],
  ['WAITING', 'Waiting'],
  ['WITHHELD', 'Withheld'],
  ['GONE', 'Gone'],
  ['REJECTED', 'Rejected'],
  ['EXPIRED', 'Expired'],
  ['FAILED', 'Failed'],
];

type DeliveryTabProps = {
  progress: CampaignProgress;
  platforms: readonly Platform[];
  results: UseQueryResult<CampaignResults>;
};

/** What became of each device's message, and why. */
export function DeliveryTab({ progress, platforms, results }: DeliveryTabProps) {
  return (
    <Stack gap="lg">
      <section>
        <Title order={2} size="h5" mb="xs">
          Per platform
        </Title>
        <DataTable
          label="Per platform"
          minWidth={760}
          rows={platforms}
          keyOf={(platform) => platform}
          columns={[
            { key: 'platform', title: 'Platform', cell: (platform) => platformNames[platform] },
            ...outcomes.map(([outcome, word]) => ({
              key: outcome,
              title: <Definition word={word} />,
              isNumber: true,
              cell: (platform: Platform) => (
                <DeliveryCount count={countDevices(progress, [outcome], platform)} of={{ platform, outcome }} />
              ),
            })),
          ]}
        />
      </section>
      <Loaded query={results}>{(data) => <Failures results={data} />}</Loaded>
    </Stack>
  );
}
