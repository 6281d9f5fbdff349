import { Code, Text, Title } from '@mantine/core';
import type { CampaignResults } from '../api/generated/campaign-answers.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { Ago } from '../parts/ago.tsx';
import { DeliveryCount } from './delivery-count.tsx';
import { WaitingNote } from './waiting-note.tsx';

/** Why devices were not reached, in the provider's words, and what to do about it. */
export function Failures({ results }: { results: CampaignResults }) {
  const { failures } = results;
  return (
    <section id="errors">
      <Title order={2} size="h5" mb="xs">
        Not delivered, and what to do
      </Title>
      {results.runsWithoutLedger > 0 && (
        <Text size="sm" mb="xs">
          {results.runsWithoutLedger === 1
            ? 'One run is'
            : `${results.runsWithoutLedger.toLocaleString('en')} runs are`}{' '}
          older than the delivery log: how many and why is counted, but not who and when.
        </Text>
      )}
      <WaitingOrDone results={results} />
      {failures.length > 0 && (
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
            {
              key: 'devices',
              title: 'Devices',
              isNumber: true,
              cell: ({ platform, outcome, code, devices }) => (
                <DeliveryCount count={devices} of={{ platform, outcome, code }} />
              ),
            },
            { key: 'advice', title: 'What to do', cell: ({ advice }) => advice },
            { key: 'last', title: 'Last time', cell: ({ lastAt }) => <Ago at={lastAt} /> },
            {
              key: 'sample',
              title: 'Example',
              cell: ({ sampleDeviceId }) =>
                sampleDeviceId === null ? 'Not kept' : <CopyTextButton text={sampleDeviceId} label="device id" />,
            },
          ]}
        />
      )}
    </section>
  );
}

/** What is not in the table: nothing tried, what waits, or that all is well. */
function WaitingOrDone({ results: { accepted, waiting, failures } }: { results: CampaignResults }) {
  if (waiting.length > 0) return <WaitingNote waiting={waiting} />;
  if (failures.length > 0) return null;
  return (
    <Text size="sm">{accepted === 0 ? 'Nothing tried yet.' : 'Every device that was tried accepted its message.'}</Text>
  );
}
