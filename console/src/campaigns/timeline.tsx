import { Card, Text, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { CampaignTimeline } from '../api/generated/campaign-answers.ts';
import { DataTable } from '../parts/data-table.tsx';
import { spanText } from '../parts/format-duration.ts';
import { Time } from '../parts/time.tsx';
import { Waiting } from '../parts/waiting.tsx';

const TimelineChart = lazy(async () => ({ default: (await import('./timeline-chart.tsx')).TimelineChart }));

type TimelineProps = { timeline: CampaignTimeline; runsWithoutLedger: number };

/** What became of the messages over time: a picture, and the same as a table for those who cannot see it. */
export function Timeline({ timeline, runsWithoutLedger }: TimelineProps) {
  const { steps, stepSeconds } = timeline;
  return (
    <Card withBorder component="section">
      <Title order={2} size="h5" mb="xs">
        Over time
      </Title>
      {steps.length === 0 ? (
        <Text size="sm">{runsWithoutLedger === 0 ? 'Nothing sent yet.' : 'The times are no longer kept.'}</Text>
      ) : (
        <>
          <Suspense fallback={<Waiting />}>
            <TimelineChart timeline={timeline} />
          </Suspense>
          <details>
            <summary style={{ fontSize: 'var(--mantine-font-size-sm)' }}>Show as a table</summary>
            <DataTable
              label="Over time"
              rows={steps}
              keyOf={({ at }) => at}
              columns={[
                { key: 'at', title: `From (per ${spanText(stepSeconds)})`, cell: ({ at }) => <Time at={at} /> },
                {
                  key: 'accepted',
                  title: 'Accepted',
                  isNumber: true,
                  cell: ({ accepted }) => accepted.toLocaleString('en'),
                },
                {
                  key: 'not',
                  title: 'Not delivered',
                  isNumber: true,
                  cell: (step) => step.notDelivered.toLocaleString('en'),
                },
              ]}
            />
          </details>
        </>
      )}
    </Card>
  );
}
