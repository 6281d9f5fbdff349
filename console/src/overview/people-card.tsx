import type { Overview } from '@carillon/client';
import { Card, Code, Table, Text, Title } from '@mantine/core';
import { platformNames } from '../parts/platform-names.ts';

export function PeopleCard({ overview }: { overview: Overview }) {
  const platforms = ['ANDROID', 'IOS', 'WEB'] as const;
  const count = (platform: string, isActive: boolean) =>
    overview.devices
      .filter((row) => row.platform === platform && (row.state === 'ACTIVE') === isActive)
      .reduce((sum, row) => sum + row.devices, 0);
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        {overview.users.toLocaleString()} people
      </Title>
      <Table aria-label="Devices per platform">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Devices</Table.Th>
            <Table.Th ta="right">Reachable</Table.Th>
            <Table.Th ta="right">Not reachable</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {platforms.map((platform) => (
            <Table.Tr key={platform}>
              <Table.Td>{platformNames[platform]}</Table.Td>
              <Table.Td ta="right">{count(platform, true).toLocaleString()}</Table.Td>
              <Table.Td ta="right">{count(platform, false).toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" mt="xs">
        Load more: <Code>npm run carillon -- import users.ndjson</Code>
      </Text>
    </Card>
  );
}
