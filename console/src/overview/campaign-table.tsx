import { Card, Code, Table, Text, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { OverviewCampaign } from '../api/generated/overview.ts';
import { notDelivered } from '../campaigns/report/figures.ts';
import { CopyableBlock } from '../parts/copyable.tsx';
import { RouteLink } from '../parts/links.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { DeliveryNumber } from './overview-card.tsx';

// Loaded separately, because few users read definitions.
const Definition = lazy(async () => ({ default: (await import('../parts/text/definition.tsx')).Definition }));

/** The newest campaigns with their results. */
export function CampaignTable({ campaigns, curl }: { campaigns: OverviewCampaign[]; curl: string | undefined }) {
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        Newest campaigns
      </Title>
      {campaigns.length === 0 ? (
        <Empty curl={curl} />
      ) : (
        <Table.ScrollContainer type="native" minWidth={640} tabIndex={0} role="region" aria-label="Newest campaigns">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Status</Table.Th>
                {(['Accepted', 'Waiting', 'Not delivered'] as const).map((word) => (
                  <Table.Th key={word} ta="right">
                    <Suspense fallback={word}>
                      <Definition word={word} />
                    </Suspense>
                  </Table.Th>
                ))}
                <Table.Th pl={28}>Created</Table.Th>
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
  const { id: workspaceId } = useWorkspace();
  const sum = (...outcomes: string[]) =>
    campaign.counts.filter((row) => outcomes.includes(row.outcome)).reduce((total, row) => total + row.devices, 0);
  const missed = sum(...notDelivered);
  // A campaign that was not sent has no counts.
  const say = (count: number) => (campaign.counts.length === 0 ? '–' : count.toLocaleString('en'));
  const perPlatform = campaign.counts
    .filter((row) => row.outcome === 'ACCEPTED')
    .map((row) => `${platformNames[row.platform]} ${row.devices.toLocaleString('en')}`)
    .join(', ');
  return (
    <Table.Tr>
      <Table.Td>
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: campaign.id }}>
          {campaign.name}
        </RouteLink>
        <Text size="xs" c="dimmed">
          by {campaign.createdBy}
        </Text>
      </Table.Td>
      <Table.Td>
        <StatusBadge status={campaign.status} />
        {campaign.statusReason !== null && <Text size="xs">{campaign.statusReason}</Text>}
      </Table.Td>
      <Table.Td ta="right">
        <DeliveryNumber rows={{ campaign: campaign.id, outcome: 'ACCEPTED' }}>{say(sum('ACCEPTED'))}</DeliveryNumber>
        <Text size="xs" c="dimmed">
          {perPlatform}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        <DeliveryNumber rows={{ campaign: campaign.id, outcome: 'WAITING' }}>{say(sum('WAITING'))}</DeliveryNumber>
      </Table.Td>
      <Table.Td ta="right">
        {missed === 0 ? (
          say(0)
        ) : (
          <RouteLink
            to="/w/$workspaceId/campaigns/$campaignId"
            params={{ workspaceId, campaignId: campaign.id }}
            search={{ tab: 'delivery' }}
          >
            {missed.toLocaleString('en')}
          </RouteLink>
        )}
      </Table.Td>
      <Table.Td pl={28}>
        <Ago at={campaign.createdAt} />
      </Table.Td>
    </Table.Tr>
  );
}

function Empty({ curl }: { curl: string | undefined }) {
  return (
    <>
      <Text size="sm" mb="xs">
        Nothing sent yet. {curl === undefined ? 'Create a push key first:' : 'Paste this into a terminal:'}
      </Text>
      {curl === undefined ? (
        <Code>npm run carillon -- keys create --kind push</Code>
      ) : (
        <CopyableBlock text={curl} label="curl command" />
      )}
    </>
  );
}
