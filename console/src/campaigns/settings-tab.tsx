import { Badge, Card, Group, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { CampaignReport } from '../api/generated/campaign-answers.ts';
import { Copyable } from '../parts/copyable.tsx';
import { curlOf } from '../parts/curl-of.ts';
import { DataTable } from '../parts/data-table.tsx';
import { FactsTable } from '../parts/facts-table.tsx';
import type { Fact } from '../parts/facts-table.tsx';
import { RequestBehind } from '../parts/request-behind.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { CampaignAudience } from './campaign-audience.tsx';
import { describeControls } from './describe-controls.ts';
import { describeSchedule } from './describe-schedule.ts';

const route = getRouteApi('/w/$workspaceId/campaigns/$campaignId');

/** How it was set up, its versions, the call behind it, and its ids at the end. */
export function SettingsTab({ report: { campaign, request, versions } }: { report: CampaignReport }) {
  const { workspaceId } = route.useParams();
  const facts: Fact[] = [
    ['Audience', <CampaignAudience key="audience" campaign={campaign} />],
    ['Schedule', describeSchedule(request)],
    ...describeControls(request),
    [
      'Tags',
      campaign.tags.length === 0 ? (
        'None'
      ) : (
        <Group key="tags" gap={4}>
          {campaign.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </Group>
      ),
    ],
    [
      'Created',
      <>
        <Ago at={campaign.createdAt} /> by {campaign.createdBy}
      </>,
    ],
    ['Changed', <Ago key="changed" at={campaign.updatedAt} />],
    ['Campaign id', <Copyable key="id" text={campaign.id} label="campaign id" />],
    ...(campaign.segmentId === null
      ? []
      : [['Segment id', <Copyable key="segment" text={campaign.segmentId} label="segment id" />] as Fact]),
  ];
  return (
    <Stack gap="lg">
      <Card withBorder>
        <FactsTable facts={facts} />
      </Card>
      {versions.length > 0 && <Versions versions={versions} />}
      <RequestBehind curl={curlOf({ method: 'POST', path: '/v5/campaigns', workspaceId, body: request })}>
        This creates the same campaign as a draft; publish it with <code>PATCH /v5/campaigns/…/status</code>.
      </RequestBehind>
    </Stack>
  );
}

function Versions({ versions }: Pick<CampaignReport, 'versions'>) {
  const { workspaceId } = route.useParams();
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Versions
      </Title>
      <DataTable
        label="Versions"
        rows={versions}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'version',
            title: 'Version',
            cell: ({ id, versionNumber }) => (
              <RouteLink
                to="/w/$workspaceId/campaigns/$campaignId"
                params={{ workspaceId, campaignId: id }}
                search={{}}
              >
                {String(versionNumber ?? 1)}
              </RouteLink>
            ),
          },
          { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          { key: 'created', title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { key: 'by', title: 'By', cell: ({ createdBy }) => createdBy },
        ]}
      />
    </section>
  );
}
