import type { Overview } from '@carillon/client';
import { Alert, Badge, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { CampaignTable } from './campaign-table.tsx';
import { Inbox } from './inbox.tsx';
import { KeyTable } from './key-table.tsx';
import { PeopleCard } from './people-card.tsx';
import { WorkspaceCard } from './workspace-card.tsx';

/** Says in five seconds whether all is well and what is being sent right now. */
export function OverviewPage() {
  const { id } = useWorkspace();
  const overview = useQuery({
    queryKey: ['overview', id],
    queryFn: () => consoleClient.readOverview(id),
    refetchInterval: 1000,
  });
  return <Loaded query={overview}>{(data) => <OverviewOf overview={data} />}</Loaded>;
}

function OverviewOf({ overview }: { overview: Overview }) {
  const isWell = overview.troubles.length === 0;
  return (
    <Stack gap="lg">
      <PageHeader
        title="Overview"
        actions={
          <>
            {overview.isSandbox && <Badge>Sending to simulators</Badge>}
            <Badge color={isWell ? 'teal.9' : 'red.9'} role="status">
              {isWell ? 'All is well' : 'Needs attention'}
            </Badge>
          </>
        }
      />
      {!isWell && (
        <Alert color="red" title="Not ready">
          {overview.troubles.join(', ')}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <WorkspaceCard overview={overview} />
        <PeopleCard overview={overview} />
      </SimpleGrid>
      <CampaignTable campaigns={overview.campaigns} curl={overview.curl} />
      {overview.isSandbox && <Inbox workspaceId={overview.workspace.id} />}
      <KeyTable keys={overview.keys} />
    </Stack>
  );
}
