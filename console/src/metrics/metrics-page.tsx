import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Metrics } from '../api/generated/system.ts';
import type { MetricSpan } from '../api/system.ts';
import { consoleClient } from '../console.ts';
import { spanText } from '../parts/format-duration.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Waiting } from '../parts/waiting.tsx';
import styles from '../parts/views.module.css';
import { useWorkspace } from '../shell/workspace.ts';
import { chartsOf } from './charts-of.ts';
import type { Chart } from './charts-of.ts';

const route = getRouteApi('/w/$workspaceId/metrics');
const LineChart = lazy(async () => ({ default: (await import('../parts/line-chart.tsx')).LineChart }));

const spans: { span: MetricSpan; name: string }[] = [
  { span: 'hour', name: 'Hour' },
  { span: 'day', name: 'Day' },
  { span: 'week', name: 'Week' },
];

/** What the whole installation does, over an hour, a day or a week. */
export function MetricsPage() {
  const { id: workspaceId } = useWorkspace();
  const { span = 'hour' } = route.useSearch();
  const metrics = useQuery({
    queryKey: ['metrics', workspaceId, span],
    queryFn: () => consoleClient.system.readMetrics({ workspaceId, span }),
    refetchInterval: span === 'hour' ? 10_000 : 60_000,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack gap="lg">
      <PageHeader title="Metrics" about="The whole installation, across all workspaces. Kept for eight days." />
      <Group component="nav" gap="lg" className={styles.views!} {...{ 'aria-label': 'Span' }}>
        {spans.map(({ span: one, name }) => (
          <Link
            key={one}
            to="/w/$workspaceId/metrics"
            params={{ workspaceId }}
            search={one === 'hour' ? {} : { span: one }}
            activeProps={{}}
            aria-current={one === span ? 'page' : undefined}
            className={styles.view!}
          >
            {name}
          </Link>
        ))}
      </Group>
      <Loaded query={metrics}>{(data) => <Charts metrics={data} />}</Loaded>
    </Stack>
  );
}

function Charts({ metrics }: { metrics: Metrics }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {chartsOf(metrics).map((chart) => (
        <ChartCard key={chart.title} chart={chart} metrics={metrics} />
      ))}
    </SimpleGrid>
  );
}

function ChartCard({ chart: { title, about, lines, format }, metrics }: { chart: Chart; metrics: Metrics }) {
  const newest = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null);
    return `${label} ${last === undefined ? 'none' : format(last!)}`;
  });
  return (
    <Card withBorder component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Title order={2} size="h5">
        {title}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {about} {spanText(metrics.stepSeconds)}
      </Text>
      {lines.length === 0 ? (
        <Text size="sm">No data in this period.</Text>
      ) : (
        <Suspense fallback={<Waiting />}>
          <LineChart label={`${title}. Last: ${newest.join(', ')}`} {...{ steps: metrics.steps, lines, format }} />
        </Suspense>
      )}
    </Card>
  );
}
