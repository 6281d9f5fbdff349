import { Alert, Anchor, Group, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignProgress, CampaignResults, CampaignTimeline } from '../api/generated/campaign-answers.ts';
import type { Attribution, CampaignFigures } from '../api/generated/campaign-figures.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import type { platformNames } from '../parts/platform-names.ts';
import { Time } from '../parts/time.tsx';
import { Comparison } from './comparison.tsx';
import { LiveProgress } from './live-progress.tsx';
import { PlatformFunnel } from './platform-funnel.tsx';
import { RateCards } from './rate-cards.tsx';
import { attributionWords } from './report-search.ts';
import { Timeline } from './timeline.tsx';
import { WaitingNote } from './waiting-note.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

type SummaryTabProps = {
  progress: CampaignProgress;
  platforms: readonly (keyof typeof platformNames)[];
  figures: UseQueryResult<CampaignFigures>;
  results: UseQueryResult<CampaignResults>;
  timeline: UseQueryResult<CampaignTimeline>;
};

/** How it stands, what it reached, and when. */
export function SummaryTab({ progress, platforms, figures, results, timeline }: SummaryTabProps) {
  return (
    <Stack gap="lg">
      {progress.status === 'SENT' && progress.runs === 0 && (
        <Notice tone="note">No run of this campaign is kept: it was sent too long ago, or elsewhere.</Notice>
      )}
      {progress.statusReason !== null && <Alert title={progress.status}>{progress.statusReason}</Alert>}
      {progress.nextAt !== null && (
        <Text size="sm" component="div">
          Next occurrence: <Time at={progress.nextAt} />
        </Text>
      )}
      <LiveProgress progress={progress} />
      {results.data && <WaitingNote waiting={results.data.waiting} />}
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

/** What an event must come after to count, and the numbers as a file. */
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
