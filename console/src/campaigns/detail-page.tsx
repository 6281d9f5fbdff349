import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../api/generated/campaign.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { curlOf } from '../parts/curl-of.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RequestBehind } from '../parts/request-behind.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { CampaignActions } from './campaign-actions.tsx';
import { Failures } from './failures.tsx';
import { Funnel } from './ladder.tsx';
import { LiveProgress } from './live-progress.tsx';
import { PlatformTable } from './platform-table.tsx';
import { RunTable } from './run-table.tsx';
import { Timeline } from './timeline.tsx';
import { isEnded, useProgress } from './use-progress.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');
// These are read from the ledger, not from counters.
const slowMilliseconds = 5000;

/** Explains one campaign. */
export function CampaignPage() {
  const { workspaceId, campaignId: id } = route.useParams();
  const key = { workspaceId, id };
  const report = useQuery({
    queryKey: ['campaign', workspaceId, id],
    queryFn: () => consoleClient.campaigns.read(key),
    // The identity of the campaign comes with the answer; when it is sent, the numbers follow.
    staleTime: 10_000,
  });
  return <Loaded query={report}>{(data) => <CampaignOf key={id} report={data} workspaceId={workspaceId} />}</Loaded>;
}

function CampaignOf({ report, workspaceId }: { report: CampaignReport; workspaceId: string }) {
  const { campaign, versions } = report;
  const key = { workspaceId, id: campaign.id };
  const progress = useProgress(key);
  const state = progress.data === undefined ? 'unknown' : isEnded(progress.data) ? 'ended' : 'moving';
  const renewal = { refetchInterval: state === 'moving' ? slowMilliseconds : (false as const) };
  const results = useQuery({
    queryKey: ['campaign-results', workspaceId, campaign.id, state],
    queryFn: () => consoleClient.campaigns.readResults(key),
    placeholderData: keepPreviousData,
    ...renewal,
  });
  const timeline = useQuery({
    queryKey: ['campaign-timeline', workspaceId, campaign.id, state],
    queryFn: () => consoleClient.campaigns.readTimeline(key),
    placeholderData: keepPreviousData,
    ...renewal,
  });
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery({
    queryKey: ['campaign-runs', workspaceId, campaign.id, page, state],
    queryFn: () => consoleClient.campaigns.listRuns({ ...key, page }),
    placeholderData: keepPreviousData,
    ...renewal,
  });
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
      <Loaded query={progress}>
        {(numbers) => (
          <>
            {numbers.status === 'SENT' && numbers.runs === 0 && (
              <Notice tone="note">No run of this campaign is here: it was sent too long ago, or elsewhere.</Notice>
            )}
            {numbers.statusReason !== null && <Alert title={numbers.status}>{numbers.statusReason}</Alert>}
            {numbers.nextAt !== null && (
              <Text size="sm" component="div">
                Next occurrence: <Time at={numbers.nextAt} />
              </Text>
            )}
            <LiveProgress progress={numbers} />
            <Funnel progress={numbers} results={results.data} />
            <PlatformTable progress={numbers} platforms={campaign.platforms} />
          </>
        )}
      </Loaded>
      <Loaded query={timeline}>
        {(data) => <Timeline timeline={data} runsWithoutLedger={results.data?.runsWithoutLedger ?? 0} />}
      </Loaded>
      <Loaded query={results}>{(data) => <Failures results={data} />}</Loaded>
      <Loaded query={runs}>
        {(data) => (
          <RunTable
            runs={data}
            page={page}
            onPage={(next) => void navigate({ search: next === 1 ? {} : { page: next } })}
          />
        )}
      </Loaded>
      {versions.length > 0 && <Versions versions={versions} workspaceId={workspaceId} />}
      <RequestBehind curl={curlOf({ method: 'POST', path: '/v5/campaigns', workspaceId, body: report.request })}>
        This creates the same campaign as a draft; publish it with <code>PATCH /v5/campaigns/…/status</code>.
      </RequestBehind>
    </Stack>
  );
}

function About({ campaign, status }: { campaign: CampaignReport['campaign']; status: string }) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StatusBadge status={status} />
        <Text size="sm" component="div">
          {campaign.channel} · {campaign.deliveryType.replaceAll('_', ' ').toLowerCase()} ·{' '}
          <Audience campaign={campaign} /> · created <Time at={campaign.createdAt} /> by {campaign.createdBy}
        </Text>
      </Group>
      <Copyable text={campaign.id} label="campaign id" />
    </Stack>
  );
}

function Audience({ campaign }: { campaign: CampaignReport['campaign'] }) {
  const { workspaceId } = route.useParams();
  if (campaign.audience === 'ALL_USERS') return 'to all people';
  if (campaign.audience === 'USER') return 'to named people';
  const { segmentId, segmentName } = campaign;
  if (segmentId === null) return 'to a segment';
  return (
    <>
      to the segment{' '}
      <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId }}>
        {segmentName ?? segmentId}
      </RouteLink>
    </>
  );
}

function Versions({ versions, workspaceId }: { versions: CampaignReport['versions']; workspaceId: string }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Versions
      </Title>
      <DataTable
        label="Versions"
        rows={versions}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'version',
            title: 'Version',
            cell: ({ id, versionNumber }) => (
              <RouteLink
                to="/w/$workspaceId/campaigns/$campaignId"
                params={{ workspaceId, campaignId: id }}
                search={{}}
              >
                {String(versionNumber ?? 1)}
              </RouteLink>
            ),
          },
          { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { key: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { key: 'by', title: 'By', cell: ({ createdBy }) => createdBy },
        ]}
      />
    </section>
  );
}
