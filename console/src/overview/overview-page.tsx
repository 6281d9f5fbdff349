import type { Overview } from '@carillon/client';
import { Alert, Badge, Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { CampaignTable } from './campaign-table.tsx';
import { Inbox } from './inbox.tsx';
import { KeyTable } from './key-table.tsx';
import { PeopleCard } from './people-card.tsx';
import { WorkspaceCard } from './workspace-card.tsx';

/** Says in five seconds whether all is well and what is being sent right now. */
export function OverviewPage({ overview }: { overview: Overview }) {
  const isWell = overview.troubles.length === 0;
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Title order={2}>Overview</Title>
        <Group gap="xs">
          {overview.isSandbox && <Badge>Sending to simulators</Badge>}
          <Badge color={isWell ? 'teal.9' : 'red.9'} role="status">
            {isWell ? 'All is well' : 'Needs attention'}
          </Badge>
        </Group>
      </Group>
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
