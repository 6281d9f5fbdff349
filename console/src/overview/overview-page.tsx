import { Box, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { Overview } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink, TabLink, TabLinks } from '../parts/links.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import styles from './overview.module.css';
import { FirstPush } from './first-push.tsx';
import { SendsCard } from './sends-card.tsx';
import { VerdictCard } from './verdict-card.tsx';
import { WeekChart, WeekFigures } from './week.tsx';

// Loaded separately, because only the first visits need them.
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }));
const Inbox = lazy(async () => ({ default: (await import('./inbox.tsx')).Inbox }));
const DetailsView = lazy(async () => ({ default: (await import('./details-view.tsx')).DetailsView }));

const route = getRouteApi('/w/$workspaceId/');
const views = { summary: 'Summary', details: 'Details' } as const;

/** Shows whether the workspace is well, and what its sends achieved. */
export function OverviewPage() {
  const { id } = useWorkspace();
  const { view } = route.useSearch();
  const overview = useQuery({
    queryKey: ['overview', id],
    queryFn: () => consoleClient.overview.read(id),
    refetchInterval: 2000,
  });
  return (
    <Loaded query={overview}>
      {(data) => (
        <Stack gap="md">
          <PageHeader actions={<Actions overview={data} />} />
          <ViewLinks current={view ?? 'summary'} />
          {view === 'details' ? (
            <Suspense fallback={null}>
              <DetailsView overview={data} />
            </Suspense>
          ) : (
            <Summary overview={data} />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function Actions({ overview: { isSandbox, workspace } }: { overview: Overview }) {
  const mayWrite = useMay('campaigns.write');
  return (
    <>
      {isSandbox && <ToneBadge tone="still">Sending to simulators</ToneBadge>}
      {mayWrite && (
        <ButtonLink
          to="/w/$workspaceId/campaigns/new"
          params={{ workspaceId: workspace.id }}
          search={{}}
          variant="filled"
        >
          New campaign
        </ButtonLink>
      )}
    </>
  );
}

function ViewLinks({ current }: { current: keyof typeof views }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <TabLinks label="Views">
      {(Object.keys(views) as (keyof typeof views)[]).map((view) => (
        <TabLink
          key={view}
          to="/w/$workspaceId"
          params={{ workspaceId }}
          search={view === 'details' ? { view } : {}}
          isCurrent={view === current}
        >
          {views[view]}
        </TabLink>
      ))}
    </TabLinks>
  );
}

function Summary({ overview }: { overview: Overview }) {
  const { isSandbox, campaigns, curl, workspace } = overview;
  return (
    <>
      <VerdictCard overview={overview} />
      <Suspense fallback={null}>
        <FirstSteps />
      </Suspense>
      <WeekFigures workspaceId={workspace.id} />
      <div className={styles.main}>
        <Box style={{ minWidth: 0 }}>
          {campaigns.length === 0 ? <FirstPush curl={curl} /> : <WeekChart workspaceId={workspace.id} />}
        </Box>
        <SendsCard overview={overview} />
      </div>
      {isSandbox && (
        <Suspense fallback={null}>
          <Inbox workspaceId={workspace.id} />
        </Suspense>
      )}
    </>
  );
}
