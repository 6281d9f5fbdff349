import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Metrics } from './api/generated/system.ts';
import type { MetricSpan } from './api/console-client.ts';
import { consoleClient } from './console.ts';
import type { ChartLine } from './parts/chart.tsx';
import { Loaded } from './parts/loaded.tsx';
import { PageHeader } from './parts/page-header.tsx';
import { spanText, formatDuration } from './parts/text/format-time.ts';
import { providers } from './api/generated/providers.ts';
import styles from './parts/views.module.css';
import { Waiting } from './parts/waiting.tsx';
import { useWorkspace } from './shell/workspace.ts';

const route = getRouteApi('/w/$workspaceId/metrics');
const LineChart = lazy(async () => ({ default: (await import('./parts/chart.tsx')).LineChart }));

const spans: { span: MetricSpan; name: string }[] = [
  { span: 'hour', name: 'Hour' },
  { span: 'day', name: 'Day' },
  { span: 'week', name: 'Week' },
];

/** Charts of the whole installation over an hour, a day or a week. */
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
      <PageHeader about="The whole installation, across all workspaces. Kept for eight days." />
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

/** `about` is followed by the length of a step. */
type Chart = { title: string; about: string; lines: ChartLine[]; format: (value: number) => string };

const providerNames = Object.keys(providers) as (keyof typeof providers)[];
const palette = ['accent', 'teal', 'orange', 'grape', 'cyan', 'lime'];
const colourOf = (provider: keyof typeof providers): string =>
  palette[providerNames.indexOf(provider) % palette.length]!;
const refusals = { gone: 'gray', waits: 'yellow', rejected: 'orange', stopped: 'red' } as const;

/** A series without any value is left out. */
const line = (label: string, colour: string, values: (number | null)[]): ChartLine[] =>
  values.some((value) => value !== null && value > 0) ? [{ label, colour, values }] : [];
const perSecond = (value: number) => `${value.toLocaleString('en', { maximumFractionDigits: value < 0.1 ? 3 : 2 })}/s`;
const whole = (value: number) => Math.round(value).toLocaleString('en');

/** Reads counters and means by step. */
function makeReadings({ series, stepSeconds, steps }: Metrics) {
  const byName = new Map(series.map(({ name, values }) => [name, values]));
  /** Steps in which a node reported. A counter that is missing in such a step is 0. */
  const isReported = steps.map((_, index) => series.some(({ values }) => values[index] !== null));
  const counted = (name: string): (number | null)[] =>
    isReported.map((reported, index) => (reported ? (byName.get(name)?.[index] ?? 0) : null));
  const rate = (name: string) => counted(name).map((value) => value && value / stepSeconds);
  const mean = (provider: string) => {
    const answers = counted(`latency.${provider}.answers`);
    return counted(`latency.${provider}.milliseconds`).map((sum, index) => {
      const count = answers[index];
      return sum === null || !count ? null : sum / count;
    });
  };
  return { counted, rate, mean, gauge: (name: string) => byName.get(name) ?? [] };
}

function chartsOf(metrics: Metrics): Chart[] {
  const { counted, rate, mean, gauge } = makeReadings(metrics);
  return [
    {
      title: 'Pushes accepted',
      about: 'Push API requests per second, averaged per',
      lines: line('Accepted', 'accent', rate('pushes')),
      format: perSecond,
    },
    {
      title: 'Sent',
      about: 'Messages that providers accepted per second, averaged per',
      lines: providerNames.flatMap((provider) =>
        line(providers[provider].short, colourOf(provider), rate(`sends.${provider}.accepted`)),
      ),
      format: perSecond,
    },
    {
      title: 'Not accepted',
      about: 'Messages that providers refused per',
      lines: providerNames.flatMap((provider) =>
        Object.entries(refusals).flatMap(([outcome, colour]) =>
          line(`${providers[provider].short} ${outcome}`, colour, counted(`sends.${provider}.${outcome}`)),
        ),
      ),
      format: whole,
    },
    {
      title: 'Provider latency',
      about: 'Average response time per',
      lines: providerNames.flatMap((provider) => line(providers[provider].short, colourOf(provider), mean(provider))),
      format: (value) => `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`,
    },
    {
      title: 'Queue age',
      about: 'How long the oldest message has waited, every',
      lines: line('Oldest', 'orange', gauge('queue.ageSeconds')),
      format: (value) => formatDuration(value * 1000),
    },
    {
      title: 'Waiting',
      about: 'Parts of campaigns and retries, every',
      lines: [
        ...line('Retries', 'yellow', gauge('retries.waiting')),
        ...line('Ready for a worker', 'accent', gauge('queue.waiting')),
      ],
      format: whole,
    },
    {
      title: 'Errors',
      about: 'Failed calls and jobs per',
      lines: [
        ...line('Calls refused', 'yellow', counted('calls.refused')),
        ...line('Calls failed', 'red', counted('calls.failed')),
        ...line('Jobs failed', 'grape', counted('jobs.failed')),
      ],
      format: whole,
    },
    {
      title: 'API calls',
      about: 'All calls in the API log per second, averaged per',
      lines: line('Calls', 'accent', rate('calls')),
      format: perSecond,
    },
  ];
}
