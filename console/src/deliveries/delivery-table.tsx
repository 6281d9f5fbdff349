import { Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LoggedDelivery } from '../api/generated/deliveries.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { shownColumns } from '../parts/lists/column-choice.tsx';
import type { ColumnSet } from '../parts/lists/column-choice.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { RouteLink } from '../parts/links.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { writeRow } from './delivery-search.ts';
import type { DeliverySearch } from './delivery-search.ts';

type DeliveryTableProps = {
  deliveries: LoggedDelivery[];
  search: DeliverySearch;
  arrived: ReadonlySet<string>;
};

/** Rows of the log. The time of a row is its link. */
export function DeliveryTable({ deliveries, search, arrived }: DeliveryTableProps) {
  const { id: workspaceId } = useWorkspace();
  const columns = shownColumns(search.columns, deliveryColumns);
  return (
    <DataTable
      label="Deliveries"
      minWidth={160 + columns.length * 140}
      rows={deliveries}
      keyOf={writeRow}
      arrived={arrived}
      columns={[
        {
          key: 'at',
          title: 'When',
          cell: (delivery) => (
            <RouteLink
              to="/w/$workspaceId/deliveries"
              params={{ workspaceId }}
              search={{ ...search, row: writeRow(delivery) }}
              activeProps={{}}
              aria-current={search.row === writeRow(delivery)}
            >
              <Ago at={delivery.at} />
            </RouteLink>
          ),
        },
        ...columns.map((column) => ({
          key: column,
          title: deliveryColumns.names[column],
          isNumber: column === 'attempts',
          cell: cells[column],
        })),
      ]}
    />
  );
}

const cells: Record<DeliveryColumn, (delivery: LoggedDelivery) => ReactNode> = {
  campaign: (delivery) => <CampaignCell delivery={delivery} />,
  user: (delivery) => <UserCell delivery={delivery} />,
  device: ({ platform, deviceId }) => `${platformNames[platform]}, ${deviceId ?? 'removed since'}`,
  outcome: ({ outcome, code }) => (
    <>
      <StatusBadge status={outcome} />{' '}
      {code !== null && (
        <Text size="xs" component="div">
          <Code>{code}</Code>
        </Text>
      )}
    </>
  ),
  attempts: ({ attempts }) => attempts,
  message: ({ providerMessageId }) =>
    providerMessageId === null ? '–' : <Shortened id={providerMessageId} label="provider message id" />,
  run: ({ runId }) => <Shortened id={runId} label="run id" />,
};

function CampaignCell({ delivery: { campaignId, campaignName } }: { delivery: LoggedDelivery }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId }}>
      {campaignName}
    </RouteLink>
  );
}

/** Links to the user's page, which explains why the campaign reached the user or not. */
function UserCell({ delivery: { customerId, userId, campaignId } }: { delivery: LoggedDelivery }) {
  const { id: workspaceId } = useWorkspace();
  if (customerId === null) return 'Erased since';
  return (
    <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId }} search={{ campaign: campaignId }}>
      {customerId}
    </RouteLink>
  );
}

/** Shows the end of an id, which distinguishes it from others. The button copies all of it. */
function Shortened({ id, label }: { id: string; label: string }) {
  return (
    <>
      <Code>{id.length > 16 ? `…${id.slice(-12)}` : id}</Code> <CopyTextButton text={id} label={label} />
    </>
  );
}

type DeliveryColumn = 'campaign' | 'user' | 'device' | 'outcome' | 'attempts' | 'message' | 'run';

/** Optional columns, in addition to the time. */
export const deliveryColumns: ColumnSet<DeliveryColumn> = {
  names: {
    campaign: 'Campaign',
    user: 'User id',
    device: 'Device',
    outcome: 'Outcome',
    attempts: 'Attempts',
    message: 'Provider message id',
    run: 'Run id',
  },
  usual: ['campaign', 'user', 'device', 'outcome', 'attempts'],
};
