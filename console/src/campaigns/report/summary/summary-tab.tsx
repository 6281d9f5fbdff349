import { Alert, Anchor, Group, NativeSelect, Stack, Text, Title, Card, Progress } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, lazy, Suspense } from 'react';
import type { CampaignProgress, CampaignResults, CampaignTimeline } from '../../../api/generated/campaign-answers.ts';
import type { Attribution, CampaignFigures } from '../../../api/generated/campaign-figures.ts';
import { consoleClient } from '../../../console.ts';
import { DataTable } from '../../../parts/lists/data-table.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { stateWords } from '../../../parts/status-badge.tsx';
import { spanText } from '../../../parts/text/format-time.ts';
import type { platformNames } from '../../../parts/text/platform-names.ts';
import { Time } from '../../../parts/text/time.tsx';
import { Waiting } from '../../../parts/waiting.tsx';
import { Comparison } from './comparison.tsx';
import { WaitingNote } from '../delivery-tab.tsx';
import { countDevices, notDelivered } from '../figures.ts';
import { PlatformFunnel } from './platform-funnel.tsx';
import { RateCards } from './rate-cards.tsx';
import { attributionWords } from '../report-search.ts';
import { CampaignVerdict } from './verdict.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type SummaryTabProps = {
  progress: CampaignProgress;
  platforms: readonly (keyof typeof platformNames)[];
  figures: UseQueryResult<CampaignFigures>;
  results: UseQueryResult<CampaignResults>;
  timeline: UseQueryResult<CampaignTimeline>;
};

/** The campaign's state, results and timeline. */
export function SummaryTab({ progress, platforms, figures, results, timeline }: SummaryTabProps) {
  return (
    <Stack gap="lg">
      {progress.status === 'SENT' && progress.runs === 0 && (
        <Notice tone="note">No run of this campaign is kept: it was sent too long ago, or elsewhere.</Notice>
      )}
      {progress.statusReason !== null && <Alert title={stateWords(progress.status)}>{progress.statusReason}</Alert>}
      {progress.nextAt !== null && (
        <Text size="sm" component="div">
          Next occurrence: <Time at={progress.nextAt} />
        </Text>
      )}
      <LiveProgress progress={progress} />
      {results.data && <WaitingNote waiting={results.data.waiting} />}
      <CampaignVerdict progress={progress} />
      <RateCards progress={progress} figures={figures.data} />
      <section>
        <FunnelHeader windowHours={figures.data?.windowHours} hasGoals={(figures.data?.all.goals.length ?? 0) > 0} />
        <PlatformFunnel progress={progress} figures={figures.data} platforms={platforms} />
      </section>
      <Loaded query={timeline}>
        {(data) => <Timeline timeline={data} runsWithoutLedger={results.data?.runsWithoutLedger ?? 0} />}
      </Loaded>
      {figures.data && <Comparison progress={progress} figures={figures.data} />}
    </Stack>
  );
}

type FunnelHeaderProps = { windowHours: number | undefined; hasGoals: boolean };

/** The starting event of conversions, and the numbers as a file. */
function FunnelHeader({ windowHours, hasGoals }: FunnelHeaderProps) {
  const { workspaceId, campaignId: id } = route.useParams();
  const { attribution = 'TOTAL_CONVERSIONS', ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (next: Attribution) =>
    void navigate({
      search: next === 'TOTAL_CONVERSIONS' ? search : { ...search, attribution: next },
      resetScroll: false,
    });
  return (
    <Group justify="space-between" align="flex-end" mb="xs" gap="xs">
      <Title order={2} size="h5">
        Funnel
      </Title>
      <Group gap="md" align="flex-end">
        {hasGoals && (
          <NativeSelect
            label={`Conversions count within ${windowHours ?? 36} hours`}
            size="xs"
            value={attribution}
            onChange={({ currentTarget }) => choose(currentTarget.value as Attribution)}
            data={Object.entries(attributionWords).map(([value, label]) => ({ value, label }))}
          />
        )}
        <Anchor
          size="sm"
          underline="always"
          href={consoleClient.campaigns.figureFileUrl({ workspaceId, id, attribution })}
          download
        >
          <Group gap={4} component="span" wrap="nowrap">
            <IconDownload size={14} stroke={1.6} aria-hidden /> Download CSV
          </Group>
        </Anchor>
      </Group>
    </Group>
  );
}

/** Progress, speed and expected end of a send. */
function LiveProgress({ progress }: { progress: CampaignProgress }) {
  const done = countDevices(progress, ['ACCEPTED', ...notDelivered]);
  const rate = useRate(done, progress);
  const { reachableDevices } = progress;
  const left = reachableDevices === null ? 0 : Math.max(0, reachableDevices - done);
  if (progress.openRuns === 0) return null;
  const percent = reachableDevices ? Math.min(100, (done / reachableDevices) * 100) : 0;
  return (
    <Card withBorder component="section" aria-label="Sending">
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {reachableDevices === null
            ? `${done.toLocaleString('en')} sent so far; the audience is being counted`
            : `${done.toLocaleString('en')} of ${reachableDevices.toLocaleString('en')} devices processed`}
        </Text>
        <Text size="sm" component="div">
          {rate === undefined || progress.status === 'PAUSED' ? (
            stateWords(progress.status)
          ) : (
            <>
              {Math.round(rate).toLocaleString('en')} a second
              {left > 0 && rate >= 1 && (
                <>
                  , done about <Time at={new Date(Date.parse(progress.at) + (left / rate) * 1000).toISOString()} />
                </>
              )}
            </>
          )}
        </Text>
      </Group>
      <Progress value={percent} aria-label="Devices processed" animated={progress.status === 'SENDING'} />
    </Card>
  );
}

type Sample = { at: number; done: number };

/** Returns messages per second over the last changes, so that one second without a change does not show zero. */
function useRate(done: number, { at }: CampaignProgress): number | undefined {
  const samples = useRef<Sample[]>([]);
  const now = Date.parse(at);
  const last = samples.current.at(-1);
  if (!last || last.at !== now) samples.current = [...samples.current, { at: now, done }].slice(-10);
  const [first] = samples.current;
  if (!first || now - first.at < 500) return undefined;
  return ((done - first.done) * 1000) / (now - first.at);
}

const TimelineChart = lazy(async () => ({ default: (await import('./timeline-chart.tsx')).TimelineChart }));

type TimelineProps = { timeline: CampaignTimeline; runsWithoutLedger: number };

/** Outcomes over time, as a chart and as a table for screen readers. */
function Timeline({ timeline, runsWithoutLedger }: TimelineProps) {
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
