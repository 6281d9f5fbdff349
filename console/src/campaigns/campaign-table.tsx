import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ListedCampaign } from '../api/generated/campaign-answers.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import type { ColumnSet } from '../parts/lists/column-choice.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { RouteLink } from '../parts/links.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Definition } from '../parts/text/definition.tsx';
import { glossary } from '../parts/text/glossary.ts';
import type { GlossaryWord } from '../parts/text/glossary.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { countText, percentText } from './report/figures.ts';

type CampaignTableProps = { campaigns: ListedCampaign[]; columns: readonly CampaignColumn[] };

const numbers: readonly CampaignColumn[] = ['reachable', 'accepted', 'shown', 'clicked'];

/** Campaigns with their results. */
export function CampaignTable({ campaigns, columns }: CampaignTableProps) {
  return (
    <DataTable
      label="Campaigns"
      minWidth={240 + columns.length * 120}
      rows={campaigns}
      keyOf={({ id }) => id}
      columns={[
        { key: 'name', title: 'Name', cell: (campaign) => <Name campaign={campaign} /> },
        { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        ...columns.map((column) => ({
          key: column,
          title: titleOf(column),
          isNumber: numbers.includes(column),
          cell: cells[column],
        })),
      ]}
    />
  );
}

function titleOf(column: CampaignColumn): ReactNode {
  const title = campaignColumns.names[column];
  return title in glossary ? <Definition word={title as GlossaryWord} /> : title;
}

function Name({ campaign }: { campaign: ListedCampaign }) {
  const { id: workspaceId } = useWorkspace();
  const { id, campaignId, isExecution, name, tags, versionNumber } = campaign;
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <RouteLink
          to="/w/$workspaceId/campaigns/$campaignId"
          params={{ workspaceId, campaignId: isExecution ? campaignId : id }}
          search={{}}
          style={{ overflowWrap: 'anywhere', fontWeight: 500 }}
        >
          {name}
        </RouteLink>
        <CopyTextButton text={id} label={`id of ${name}`} />
      </Group>
      {(isExecution || versionNumber !== null || tags.length > 0) && (
        <Group gap={4} mt={2}>
          {isExecution && <Text size="xs">execution</Text>}
          {versionNumber !== null && <Text size="xs">version {versionNumber}</Text>}
          {tags.map((tag) => (
            <Badge key={tag} size="sm">
              {tag}
            </Badge>
          ))}
        </Group>
      )}
    </>
  );
}

const cells: Record<CampaignColumn, (campaign: ListedCampaign) => ReactNode> = {
  type: ({ deliveryType, channel }) => (
    <>
      {typeText(deliveryType)}
      {channel !== 'PUSH' && (
        <Text size="xs" c="dimmed">
          {channel}
        </Text>
      )}
    </>
  ),
  reachable: ({ reachableDevices }) => (reachableDevices === null ? '–' : countText(reachableDevices)),
  accepted: ({ figures }) =>
    figures === null ? '–' : <Rated count={figures.accepted} percent={figures.acceptedPercent} figures={figures} />,
  shown: ({ figures }) =>
    figures === null ? '–' : <Rated count={figures.shown} percent={figures.shownPercent} figures={figures} />,
  clicked: ({ figures }) =>
    figures === null ? '–' : <Rated count={figures.clicked} percent={figures.clickedPercent} figures={figures} />,
  sent: ({ sentAt }) => (sentAt === null ? '–' : <Ago at={sentAt} />),
  created: ({ createdAt, createdBy }) => (
    <>
      <Ago at={createdAt} />
      <Text size="xs" c="dimmed">
        by {createdBy}
      </Text>
    </>
  ),
};

type RatedProps = { count: number; percent: number | null; figures: NonNullable<ListedCampaign['figures']> };

function Rated({ count, percent, figures: { hasMoreRuns } }: RatedProps) {
  return (
    <>
      {countText(count)}
      <Text size="xs" c="dimmed">
        {percent !== null && percentText(percent)}
        {hasMoreRuns && ' of newest runs'}
      </Text>
    </>
  );
}

/** Formats `ONE_TIME` as "One time". The console calls the API's periodic campaigns recurring. */
function typeText(deliveryType: string): string {
  if (deliveryType === 'PERIODIC') return 'Recurring';
  const words = deliveryType.replaceAll('_', ' ').toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

type CampaignColumn = 'type' | 'reachable' | 'accepted' | 'shown' | 'clicked' | 'sent' | 'created';

/** Optional columns, in addition to name and status. */
export const campaignColumns: ColumnSet<CampaignColumn> = {
  names: {
    type: 'Type',
    reachable: 'Reachable',
    accepted: 'Accepted',
    shown: 'Shown',
    clicked: 'Clicked',
    sent: 'Last sent',
    created: 'Created',
  },
  usual: ['type', 'accepted', 'shown', 'clicked', 'sent', 'created'],
};
