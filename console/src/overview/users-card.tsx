import { Code, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { UserCounts } from '../api/generated/overview.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/platform-names.ts';
import { RouteLink } from '../parts/route-link.tsx';
import { useMay } from '../session/use-session.ts';
import { OverviewCard } from './overview-card.tsx';

const platforms = ['ANDROID', 'IOS', 'WEB'] as const;

/** Whom the workspace can reach. Counted once a minute: it reads every device. */
export function UsersCard({ workspaceId }: { workspaceId: string }) {
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
      <Loaded query={users}>{(counts) => <Counts counts={counts} />}</Loaded>
      <Text size="sm" mt="xs">
        Load more: <Code>npm run carillon -- import users.ndjson</Code>
      </Text>
    </OverviewCard>
  );
}

function Counts({ counts: { users, devices } }: { counts: UserCounts }) {
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
          {platforms.map((platform) => (
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
