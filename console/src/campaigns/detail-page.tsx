import { Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignProgress, CampaignReport } from '../api/generated/campaign-answers.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { Ago } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { CampaignActions } from './campaign-actions.tsx';
import { CampaignAudience, ReportTabLinks } from './report/report-links.tsx';
import { DeliveryTab } from './report/delivery-tab.tsx';
import { MessageTab } from './report/message-tab.tsx';
import { reportTabs } from './report/report-search.ts';
import type { ReportTab } from './report/report-search.ts';
import { RunTable } from './report/run-table.tsx';
import { ReportsTab } from './report/reports-tab.tsx';
import { SettingsTab } from './report/settings-tab.tsx';
import { SummaryTab } from './report/summary/summary-tab.tsx';
import { useFigures, isEnded, useProgress } from './report/use-figures.ts';
import { VariationsTab } from './report/variations-tab.tsx';
import { StatusLine } from '../parts/status-badge.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');
// These tabs read the ledger, not counters.
const slowMilliseconds = 5000;
const platformOrder = ['ANDROID', 'IOS', 'WEB'] as const;

/** Shows the state and the results of one campaign. */
export function CampaignPage() {
  const { workspaceId, campaignId: id } = route.useParams();
  const report = useQuery({
    queryKey: ['campaign', workspaceId, id],
    queryFn: () => consoleClient.campaigns.read({ workspaceId, id }),
    // The response contains the campaign's identity. While the campaign is sent, only the numbers are updated.
    staleTime: 10_000,
  });
  return (
    <Loaded query={report} waiting={<Waiting rows={10} />}>
      {(data) => <CampaignOf key={id} report={data} workspaceId={workspaceId} />}
    </Loaded>
  );
}

function CampaignOf({ report, workspaceId }: { report: CampaignReport; workspaceId: string }) {
  const { campaign } = report;
  const { tab = 'summary', attribution } = route.useSearch();
  const key = { workspaceId, id: campaign.id };
  const progress = useProgress(key);
  const state = progress.data === undefined ? 'unknown' : isEnded(progress.data) ? 'ended' : 'moving';
  const figures = useFigures({ ...key, attribution, state });
  const seesUsers = useMay('people.read');
  const hasContents = (figures.data?.contents.length ?? 0) > 0;
  const hasGroups = figures.data?.platforms.some(({ groups }) => groups.length > 0) === true;
  const tabs = (Object.keys(reportTabs) as ReportTab[]).filter(
    (one) =>
      (one !== 'variations' || hasContents || hasGroups || tab === 'variations') && (one !== 'reports' || seesUsers),
  );
  return (
    <Stack gap="lg">
      <PageHeader
        title={campaign.name}
        about={<About campaign={campaign} status={progress.data?.status ?? campaign.status} />}
        actions={
          progress.data && (
            <CampaignActions
              workspaceId={workspaceId}
              id={campaign.id}
              name={campaign.name}
              channel={campaign.channel}
              mayEdit={campaign.mayEdit}
              progress={progress.data}
            />
          )
        }
      />
      <ReportTabLinks tabs={tabs} />
      <ShownTab report={report} progress={progress} figures={figures} state={state} />
    </Stack>
  );
}

type ShownTabProps = {
  report: CampaignReport;
  progress: UseQueryResult<CampaignProgress>;
  figures: ReturnType<typeof useFigures>;
  state: 'unknown' | 'moving' | 'ended';
};

function ShownTab({ report, progress, figures, state }: ShownTabProps) {
  const { campaign, record } = report;
  const { tab = 'summary' } = route.useSearch();
  const platforms = platformOrder.filter((platform) => campaign.platforms.includes(platform));
  switch (tab) {
    case 'summary':
    case 'delivery':
      return (
        <Loaded query={progress}>
          {(numbers) => <Numbers tab={tab} progress={numbers} platforms={platforms} figures={figures} state={state} />}
        </Loaded>
      );
    case 'reports':
      return <ReportsTab platforms={platforms} />;
    case 'message':
      return <MessageTab record={record} isRecurring={campaign.deliveryType !== 'ONE_TIME'} />;
    case 'variations':
      return (
        <Loaded query={figures}>
          {(data) => <VariationsTab figures={data} status={progress.data?.status ?? campaign.status} />}
        </Loaded>
      );
    case 'runs':
      return <Runs state={state} />;
    case 'settings':
      return <SettingsTab report={report} />;
  }
}

type NumbersProps = Pick<ShownTabProps, 'figures' | 'state'> & {
  tab: 'summary' | 'delivery';
  progress: CampaignProgress;
  platforms: readonly (typeof platformOrder)[number][];
};

function Numbers({ tab, progress, platforms, figures, state }: NumbersProps) {
  const { workspaceId, campaignId: id } = route.useParams();
  const renewal = { refetchInterval: state === 'moving' ? slowMilliseconds : (false as const) };
  const results = useQuery({
    queryKey: ['campaign-results', workspaceId, id, state],
    queryFn: () => consoleClient.campaigns.readResults({ workspaceId, id }),
    placeholderData: keepPreviousData,
    ...renewal,
  });
  const timeline = useQuery({
    queryKey: ['campaign-timeline', workspaceId, id, state],
    queryFn: () => consoleClient.campaigns.readTimeline({ workspaceId, id }),
    placeholderData: keepPreviousData,
    enabled: tab === 'summary',
    ...renewal,
  });
  return tab === 'summary' ? (
    <SummaryTab progress={progress} platforms={platforms} figures={figures} results={results} timeline={timeline} />
  ) : (
    <DeliveryTab progress={progress} platforms={platforms} results={results} />
  );
}

function Runs({ state }: Pick<ShownTabProps, 'state'>) {
  const { workspaceId, campaignId: id } = route.useParams();
  const { page = 1, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery({
    queryKey: ['campaign-runs', workspaceId, id, page, state],
    queryFn: () => consoleClient.campaigns.listRuns({ workspaceId, id, page }),
    placeholderData: keepPreviousData,
    refetchInterval: state === 'moving' ? slowMilliseconds : false,
  });
  return (
    <Loaded query={runs}>
      {(data) => (
        <RunTable
          runs={data}
          page={page}
          onPage={(next) => void navigate({ search: next === 1 ? search : { ...search, page: next } })}
        />
      )}
    </Loaded>
  );
}

function About({ campaign, status }: { campaign: CampaignReport['campaign']; status: string }) {
  return (
    <StatusLine status={status}>
      <CampaignAudience campaign={campaign} /> · {typeText(campaign.deliveryType)} ·{' '}
      {campaign.sentAt === null ? (
        <>
          created <Ago at={campaign.createdAt} />
        </>
      ) : (
        <>
          sent <Ago at={campaign.sentAt} />
        </>
      )}{' '}
      by {campaign.createdBy}
    </StatusLine>
  );
}

/** Formats `ONE_TIME` as "one time". */
function typeText(deliveryType: string): string {
  return deliveryType.replaceAll('_', ' ').toLowerCase();
}
