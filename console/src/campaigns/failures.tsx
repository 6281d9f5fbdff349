import { Code, Text, Title } from '@mantine/core';
import type { CampaignResults } from '../api/generated/campaign.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { Time } from '../parts/time.tsx';

/** Why devices were not reached, in the provider's words, and what to do about it. */
export function Failures({ failures }: { failures: CampaignResults['failures'] }) {
  return (
    <section id="errors">
      <Title order={2} size="h5" mb="xs">
        Not delivered, and what to do
      </Title>
      {failures.length === 0 ? (
        <Text size="sm">Every message that was sent was accepted.</Text>
      ) : (
        <DataTable
          label="Not delivered, and what to do"
          minWidth={760}
          rows={failures}
          keyOf={({ platform, outcome, code }) => `${platform} ${outcome} ${code}`}
          columns={[
            {
              key: 'code',
              title: 'Code',
              cell: ({ code, outcome, platform }) => (
                <>
                  <Code>{code}</Code>
                  <Text size="xs">
                    {platformNames[platform]}, {outcome.toLowerCase()}
                  </Text>
                </>
              ),
            },
            { key: 'devices', title: 'Devices', isNumber: true, cell: ({ devices }) => devices.toLocaleString('en') },
            { key: 'advice', title: 'What to do', cell: ({ advice }) => advice },
            {
              key: 'sample',
              title: 'Example and last time',
              cell: ({ sampleDeviceId, lastAt }) => (
                <>
                  <Code>{sampleDeviceId}</Code> <CopyTextButton text={sampleDeviceId} label="device id" />
                  <Text size="xs" component="div">
                    <Time at={lastAt} />
                  </Text>
                </>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}
