import { Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Ago } from '../parts/ago.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';

type SegmentCampaignsProps = { workspaceId: string; segmentId: string };

/** What was sent to a segment, or will be. */
export function SegmentCampaigns({ workspaceId, segmentId: id }: SegmentCampaignsProps) {
  const campaigns = useQuery({
    queryKey: ['segment-campaigns', workspaceId, id],
    queryFn: () => consoleClient.segments.listCampaigns({ workspaceId, id }),
  });
  return (
    <Loaded query={campaigns}>
      {(rows) =>
        rows.length === 0 ? (
          <Text size="sm">
            No campaign was sent to this segment yet. A push names it as <Code>customSegmentName</Code>.
          </Text>
        ) : (
          <DataTable
            label="Campaigns to this segment"
            rows={rows}
            keyOf={({ id: campaignId }) => campaignId}
            columns={[
              {
                key: 'name',
                title: 'Name',
                cell: ({ id: campaignId, name }) => (
                  <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId }}>
                    {name}
                  </RouteLink>
                ),
              },
              { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
              { key: 'created', title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
            ]}
          />
        )
      }
    </Loaded>
  );
}
