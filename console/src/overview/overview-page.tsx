import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { Overview } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { CampaignTable } from './campaign-table.tsx';
import { Inbox } from './inbox.tsx';
import { LastHour } from './last-hour.tsx';
import { LimitList } from './limit-list.tsx';
import { UsersCard } from './users-card.tsx';
import { ProviderList } from './provider-list.tsx';
import { SendingNow } from './sending-now.tsx';
import { VerdictCard } from './verdict-card.tsx';
import { WorkCard } from './work-card.tsx';
import { WorkspaceCard } from './workspace-card.tsx';

// Most visits are not the first.
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }));

/** Says in five seconds whether all is well and what is being sent right now. */
export function OverviewPage() {
  const { id } = useWorkspace();
  const overview = useQuery({
    queryKey: ['overview', id],
    queryFn: () => consoleClient.overview.read(id),
    refetchInterval: 2000,
  });
  return <Loaded query={overview}>{(data) => <OverviewOf overview={data} />}</Loaded>;
}

function OverviewOf({ overview }: { overview: Overview }) {
  const { isSandbox, campaigns, curl, workspace } = overview;
  return (
    <Stack gap="lg">
      <PageHeader title="Overview" actions={isSandbox && <ToneBadge tone="still">Sending to simulators</ToneBadge>} />
      <VerdictCard overview={overview} />
      <Suspense fallback={null}>
        <FirstSteps />
      </Suspense>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <SendingNow overview={overview} />
        <LastHour overview={overview} />
        <ProviderList overview={overview} />
        <WorkCard overview={overview} />
      </SimpleGrid>
      <CampaignTable campaigns={campaigns} curl={curl} />
      {isSandbox && <Inbox workspaceId={workspace.id} />}
      <LimitList limits={overview.limits} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <WorkspaceCard overview={overview} />
        <UsersCard workspaceId={workspace.id} />
      </SimpleGrid>
    </Stack>
  );
}
