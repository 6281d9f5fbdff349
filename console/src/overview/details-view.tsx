import { Anchor, Card, Code, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Overview, UserCounts } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/links.tsx';
import { formatAge } from '../parts/text/format-time.ts';
import { platformNames } from '../parts/text/platform-names.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { OverviewCard } from './overview-card.tsx';
import { LastHour, LimitList, ProviderList } from './delivery-cards.tsx';

/** What a user looks up after the verdict: outcomes of the last hour, providers, queue, limits and addresses. */
export function DetailsView({ overview }: { overview: Overview }) {
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <LastHour overview={overview} />
        <ProviderList overview={overview} />
        {overview.work && <WorkCard work={overview.work} now={overview.now} />}
        <UsersCard workspaceId={overview.workspace.id} />
      </SimpleGrid>
      <LimitList limits={overview.limits} />
      <WorkspaceCard overview={overview} />
    </Stack>
  );
}

const countedPlatforms = ['ANDROID', 'IOS', 'WEB'] as const;

/** Devices per platform. The server counts once a minute, because the count reads every device. */
function UsersCard({ workspaceId }: { workspaceId: string }) {
  const users = useQuery({
    queryKey: ['people-counts', workspaceId],
    queryFn: () => consoleClient.overview.countUsers(workspaceId),
    refetchInterval: 60_000,
  });
  const seesUsers = useMay('people.read');
  return (
    <OverviewCard
      title="People"
      more={
        seesUsers && (
          <RouteLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{}}>
            Open the list
          </RouteLink>
        )
      }
    >
      <Loaded query={users}>{(counts) => <UserNumbers counts={counts} />}</Loaded>
      <Text size="sm" mt="xs">
        Load more: <Code>npm run carillon -- import users.ndjson</Code>
      </Text>
    </OverviewCard>
  );
}

function UserNumbers({ counts: { users, devices } }: { counts: UserCounts }) {
  const count = (platform: string, isActive: boolean) =>
    devices
      .filter((row) => row.platform === platform && (row.state === 'ACTIVE') === isActive)
      .reduce((sum, row) => sum + row.devices, 0);
  return (
    <>
      <Text size="sm">{users.toLocaleString('en')} people</Text>
      <Table aria-label="Devices per platform">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Devices</Table.Th>
            <Table.Th scope="col" ta="right">
              Reachable
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Not reachable
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {countedPlatforms.map((platform) => (
            <Table.Tr key={platform}>
              <Table.Td>{platformNames[platform]}</Table.Td>
              <Table.Td ta="right">{count(platform, true).toLocaleString('en')}</Table.Td>
              <Table.Td ta="right">{count(platform, false).toLocaleString('en')}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}

/** Nodes and waiting work of the whole installation. */
function WorkCard({ work, now }: { work: NonNullable<Overview['work']>; now: string }) {
  const { id: workspaceId } = useWorkspace();
  const seesSystem = useMay('system.read');
  const rows = [
    [
      'Waiting for a worker',
      workCountText(work.waiting) + (work.oldestAt ? `, since ${formatAge(work.oldestAt, now)}` : ''),
    ],
    ['In progress', workCountText(work.running)],
    ['Scheduled for later', workCountText(work.later)],
    ['Nodes that send', `${work.sendingNodes} of ${work.nodes}`],
    ['Last seen', work.seenAt === null ? 'Not recently' : `${formatAge(work.seenAt, now)} ago`],
  ] as const;
  return (
    <OverviewCard
      title="Queue and nodes"
      more={
        seesSystem && (
          <RouteLink to="/w/$workspaceId/system" params={{ workspaceId }}>
            System
          </RouteLink>
        )
      }
    >
      <Stack gap="xs">
        {rows.map(([name, value]) => (
          <Group key={name} justify="space-between" gap="xs">
            <Text size="sm">{name}</Text>
            <Text size="sm">{value}</Text>
          </Group>
        ))}
        <Text size="xs" c="dimmed">
          Parts of campaigns and retries, across all workspaces.
        </Text>
      </Stack>
    </OverviewCard>
  );
}

// The server counts up to this number.
const maxCounted = 100_000;

function workCountText(count: number): string {
  return count >= maxCounted ? `${count.toLocaleString('en')} or more` : count.toLocaleString('en');
}

function WorkspaceCard({ overview }: { overview: Overview }) {
  const { workspace, url } = overview;
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        Workspace {workspace.name}
      </Title>
      <Stack gap="xs">
        <WorkspaceFact name="Workspace id">
          <Copyable text={workspace.id} label="workspace id" />
        </WorkspaceFact>
        <WorkspaceFact name="Database name">
          <Copyable text={workspace.dbName} label="database name" />
        </WorkspaceFact>
        <WorkspaceFact name="API base">
          <Copyable text={url} label="API base" />
        </WorkspaceFact>
        <Text size="sm">
          Time zone {workspace.timeZone} ·{' '}
          <Anchor href="/docs" underline="always">
            API reference
          </Anchor>
        </Text>
      </Stack>
    </Card>
  );
}

function WorkspaceFact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      {children}
    </div>
  );
}
