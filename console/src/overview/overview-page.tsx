import { SimpleGrid, Stack, Code, Table, Text, Group, Anchor, Card, Title, Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import type { Overview, UserCounts, InboxMessage } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { formatAge } from '../parts/text/format-time.ts';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CampaignTable } from './campaign-table.tsx';
import { OverviewCard } from './overview-card.tsx';
import { LastHour, LimitList, ProviderList, SendingNow } from './sending-cards.tsx';
import { VerdictCard } from './verdict-card.tsx';

// Loaded separately, because only the first visits need it.
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }));

/** Shows the state of the workspace and the current sends. */
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
      <PageHeader actions={isSandbox && <ToneBadge tone="still">Sending to simulators</ToneBadge>} />
      <VerdictCard overview={overview} />
      <Suspense fallback={null}>
        <FirstSteps />
      </Suspense>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <SendingNow overview={overview} />
        <LastHour overview={overview} />
        <ProviderList overview={overview} />
        {overview.work && <WorkCard work={overview.work} now={overview.now} />}
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

const countedPlatforms = ['ANDROID', 'IOS', 'WEB'] as const;

/** The reachable users. The server counts once a minute, because the count reads every device. */
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
            Search for a user
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

/** Messages of the simulated phones, newest first. */
function Inbox({ workspaceId }: { workspaceId: string }) {
  const inbox = useQuery({
    queryKey: ['inbox', workspaceId],
    queryFn: () => consoleClient.overview.readInbox({ workspaceId }),
    refetchInterval: 1000,
  });
  const messages = inbox.data ?? [];
  return (
    <section aria-label="Inbox of the simulated devices">
      <Title order={2} size="h5" mb="sm">
        On the phones
      </Title>
      {messages.length === 0 ? (
        <Text size="sm">Pushes to simulated devices appear here within a second.</Text>
      ) : (
        <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }} aria-live="polite">
          {messages.slice(0, 9).map((message) => (
            <InboxNotification key={message.id} message={message} />
          ))}
        </SimpleGrid>
      )}
    </section>
  );
}

/** A message as its platform shows it: the app above on phones, the site below in browsers. */
function InboxNotification({ message }: { message: InboxMessage }) {
  const isBrowser = message.platform === 'WEB';
  const source = isBrowser ? 'Via your browser' : 'Your app';
  return (
    <Card withBorder shadow="sm" radius={message.platform === 'IOS' ? 'lg' : 'md'} padding="sm">
      <Group justify="space-between" gap="xs" mb={4}>
        <Badge>{platformNames[message.platform]}</Badge>
        <Text size="xs" c="dimmed" component="div">
          {isBrowser ? '' : `${source} · `}
          <Ago at={message.receivedAt} />
        </Text>
      </Group>
      <Text fw={600} size="sm" lineClamp={1}>
        {message.title}
      </Text>
      <Text size="sm" lineClamp={3}>
        {message.body}
      </Text>
      {isBrowser && (
        <Text size="xs" c="dimmed">
          {source}
        </Text>
      )}
    </Card>
  );
}
