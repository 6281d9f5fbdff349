import { Card, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DeliveryDetail } from '../api/generated/deliveries.ts';
import { consoleClient } from '../console.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { FactsTable } from '../parts/lists/facts-table.tsx';
import type { Fact } from '../parts/lists/facts-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { RouteLink } from '../parts/links.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { readRow } from './delivery-search.ts';
import type { DeliverySearch } from './delivery-search.ts';

/** A row of the log with the request and the provider's response. */
export function OpenedDelivery({ row, closed }: { row: string; closed: DeliverySearch }) {
  const { id: workspaceId } = useWorkspace();
  const delivery = useQuery({
    queryKey: ['delivery', workspaceId, row],
    queryFn: () => consoleClient.deliveries.read({ workspaceId, ...readRow(row) }),
  });
  return (
    <Card withBorder component="section" aria-labelledby="opened-delivery">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" id="opened-delivery">
          Message details
        </Title>
        <RouteLink to="/w/$workspaceId/deliveries" params={{ workspaceId }} search={closed} activeProps={{}}>
          Close
        </RouteLink>
      </Group>
      <Loaded query={delivery}>{(data) => <Detail delivery={data} />}</Loaded>
    </Card>
  );
}

function Detail({ delivery }: { delivery: DeliveryDetail }) {
  const { id: workspaceId } = useWorkspace();
  const { campaignId, campaignName, customerId, userId, content, settings } = delivery;
  const facts: Fact[] = [
    ['Outcome', <StatusBadge key="outcome" status={delivery.outcome} />],
    [
      'Attempts',
      <>
        {delivery.attempts}, the last on <Time at={delivery.at} />
        {delivery.retryAt !== null && (
          <>
            ; again on <Time at={delivery.retryAt} />
          </>
        )}
        ; none after <Time at={delivery.sendUntil} />
      </>,
    ],
    [
      'Answer',
      <>
        {delivery.code === null ? 'Accepted' : <Copyable text={delivery.code} label="code" />}
        {delivery.advice !== undefined && <Text size="sm">{delivery.advice}</Text>}
      </>,
    ],
    [
      'Campaign',
      <RouteLink key="campaign" to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId }}>
        {campaignName}
      </RouteLink>,
    ],
    [
      'User id',
      customerId === null ? (
        'Erased since'
      ) : (
        <RouteLink
          to="/w/$workspaceId/people/$userId"
          params={{ workspaceId, userId }}
          search={{ campaign: campaignId }}
        >
          {customerId}
        </RouteLink>
      ),
    ],
    [
      'Device',
      <>
        {platformNames[delivery.platform]}, {delivery.deviceId ?? 'removed since'}
      </>,
    ],
    ...(delivery.pushId === null
      ? []
      : [['Device token', <Copyable key="token" text={delivery.pushId} label="device token" />] satisfies Fact]),
    ...(delivery.providerMessageId === null
      ? []
      : [
          [
            'Provider’s id',
            <Copyable key="provider" text={delivery.providerMessageId} label="provider's id of the message" />,
          ] satisfies Fact,
        ]),
    ['Run id', <Copyable key="run" text={delivery.runId} label="id of the run" />],
  ];
  return (
    <Stack gap="sm">
      <FactsTable facts={facts} />
      <CopyableBlock
        label="message before personalisation"
        text={JSON.stringify({ content, ...(Object.keys(settings).length > 0 ? { settings } : {}) }, null, 2)}
      />
    </Stack>
  );
}
