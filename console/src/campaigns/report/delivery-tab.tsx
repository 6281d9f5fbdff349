import { Stack, Title, Code, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { CampaignProgress, CampaignResults, DeliveryOutcome } from '../../api/generated/campaign-answers.ts';
import { CopyTextButton } from '../../parts/copyable.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Definition } from '../../parts/text/definition.tsx';
import type { GlossaryWord } from '../../parts/text/glossary.ts';
import { platformNames } from '../../parts/text/platform-names.ts';
import { Ago, Time } from '../../parts/text/time.tsx';
import { countDevices } from './figures.ts';
import { DeliveryCount } from './report-links.tsx';

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

/** The outcomes of messages per device, with reasons. */
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

/** Errors by the provider's code, with advice. */
function Failures({ results }: { results: CampaignResults }) {
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
          older than the delivery log: their totals and reasons are kept, but not users and times.
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

/** A sentence instead of an empty table: nothing was tried, messages wait, or there were no errors. */
function WaitingOrDone({ results: { accepted, waiting, failures } }: { results: CampaignResults }) {
  if (waiting.length > 0) return <WaitingNote waiting={waiting} />;
  if (failures.length > 0) return null;
  return (
    <Text size="sm">
      {accepted === 0 ? 'No delivery was attempted yet.' : 'Every device that was tried accepted its message.'}
    </Text>
  );
}

/** Messages that wait, with the reason and the end of the wait. */
export function WaitingNote({ waiting }: Pick<CampaignResults, 'waiting'>) {
  if (waiting.length === 0) return null;
  return (
    <Notice tone="warning">
      {waiting.map(({ platform, code, devices, attempts, cause, nextAt }) => (
        <div key={`${platform} ${code}`}>
          <DeliveryCount count={devices} of={{ platform, outcome: 'WAITING', code }} />{' '}
          {devices === 1 ? 'device waits' : 'devices wait'} ({platformNames[platform]}): {cause}
          {attempts > 0 && `, try ${attempts}`}, next at <Time at={nextAt} />
        </div>
      ))}
    </Notice>
  );
}
