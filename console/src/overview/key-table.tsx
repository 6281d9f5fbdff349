import type { OverviewKey } from '@carillon/client';
import { Card, Code, Table, Text, Title } from '@mantine/core';
import { Time } from '../parts/time.tsx';

const purposes: Record<string, string> = {
  oauth: 'Gets access tokens',
  data: 'People, devices, segments (Basic)',
  push: 'Signs pushes',
  campaigns: 'Campaign search (Basic)',
};

/** Keys, never their secrets. */
export function KeyTable({ keys }: { keys: OverviewKey[] }) {
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        Keys
      </Title>
      <Table.ScrollContainer type="native" minWidth={560} tabIndex={0} role="region" aria-label="Keys">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>What it is for</Table.Th>
              <Table.Th>Ends in</Table.Th>
              <Table.Th>Last used</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {keys.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td>{key.name}</Table.Td>
                <Table.Td>{purposes[key.kind]}</Table.Td>
                <Table.Td>
                  <Code>{key.hint}</Code>
                </Table.Td>
                <Table.Td>
                  <LastUse of={key} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" mt="xs">
        Another key: <Code>npm run carillon -- keys create --kind push</Code>
      </Text>
    </Card>
  );
}

function LastUse({ of: key }: { of: OverviewKey }) {
  if (key.archivedAt !== null) return 'archived';
  return key.lastUsedAt === null ? 'never' : <Time at={key.lastUsedAt} />;
}
