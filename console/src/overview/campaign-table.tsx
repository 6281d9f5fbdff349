import type { OverviewCampaign } from '@carillon/client';
import { Badge, Card, Code, Table, Text, Title } from '@mantine/core';
import { Copyable } from './copyable.tsx';
import { platformNames } from './platform-names.ts';

const colours: Record<string, string> = {
  SENDING: 'blue.9',
  SENT: 'teal.9',
  FAILED: 'red.9',
  PAUSED: 'orange.9',
  STOPPED: 'gray.8',
};

/** Newest campaigns with what became of their messages. */
export function CampaignTable({ campaigns, curl }: { campaigns: OverviewCampaign[]; curl: string | undefined }) {
  return (
    <Card withBorder>
      <Title order={3} size="h5" mb="sm">
        Newest campaigns
      </Title>
      {campaigns.length === 0 ? (
        <Empty curl={curl} />
      ) : (
        <Table.ScrollContainer minWidth={640} tabIndex={0} role="region" aria-label="Newest campaigns">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th ta="right">Accepted</Table.Th>
                <Table.Th ta="right">Waiting</Table.Th>
                <Table.Th ta="right">Not delivered</Table.Th>
                <Table.Th>Created</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {campaigns.map((campaign) => (
                <CampaignRow key={campaign.id} campaign={campaign} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}

function CampaignRow({ campaign }: { campaign: OverviewCampaign }) {
  const sum = (...outcomes: string[]) =>
    campaign.counts.filter((row) => outcomes.includes(row.outcome)).reduce((total, row) => total + row.devices, 0);
  const perPlatform = campaign.counts
    .filter((row) => row.outcome === 'ACCEPTED')
    .map((row) => `${platformNames[row.platform]} ${row.devices.toLocaleString()}`)
    .join(', ');
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={600}>
          {campaign.name}
        </Text>
        <Text size="xs">by {campaign.createdBy}</Text>
      </Table.Td>
      <Table.Td>
        <Badge color={colours[campaign.status] ?? 'gray.8'}>{campaign.status}</Badge>
        {campaign.statusReason !== null && <Text size="xs">{campaign.statusReason}</Text>}
      </Table.Td>
      <Table.Td ta="right">
        {sum('ACCEPTED').toLocaleString()}
        <Text size="xs">{perPlatform}</Text>
      </Table.Td>
      <Table.Td ta="right">{sum('WAITING').toLocaleString()}</Table.Td>
      <Table.Td ta="right">{sum('GONE', 'REJECTED', 'EXPIRED', 'FAILED').toLocaleString()}</Table.Td>
      <Table.Td>{new Date(campaign.createdAt).toLocaleString()}</Table.Td>
    </Table.Tr>
  );
}

function Empty({ curl }: { curl: string | undefined }) {
  return (
    <>
      <Text size="sm" mb="xs">
        Nothing was sent yet. {curl === undefined ? 'Create a push key first:' : 'Paste this into a terminal:'}
      </Text>
      {curl === undefined ? (
        <Code>npm run carillon -- keys create --kind push</Code>
      ) : (
        <Copyable text={curl} label="curl command" />
      )}
    </>
  );
}
