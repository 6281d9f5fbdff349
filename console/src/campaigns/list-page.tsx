import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ListedCampaign } from '../api/generated/campaign.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/button-link.tsx';
import { CopyTextButton } from '../parts/copyable.tsx';
import { curlOf } from '../parts/curl-of.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RequestBehind } from '../parts/request-behind.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CampaignFilterForm } from './campaign-filter-form.tsx';
import { campaignsPerPage, toSearchBody } from './campaign-filters.ts';
import type { CampaignFilters } from './campaign-filters.ts';
import { CampaignViews } from './campaign-views.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns');

/** Finds any campaign. The address holds the query, and the query is one of V5. */
export function CampaignsPage() {
  const { id: workspaceId } = useWorkspace();
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('campaigns.write');
  const body = toSearchBody(filters);
  const found = useQuery({
    queryKey: ['campaigns', workspaceId, body],
    queryFn: () => consoleClient.campaigns.search(workspaceId, body),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
  const choose = (search: CampaignFilters) => void navigate({ search });
  return (
    <Stack gap="md">
      <PageHeader
        title="Campaigns"
        actions={
          mayWrite && (
            <ButtonLink to="/w/$workspaceId/campaigns/new" params={{ workspaceId }} search={{}} variant="filled">
              New campaign
            </ButtonLink>
          )
        }
      />
      <CampaignViews filters={filters} />
      <CampaignFilterForm key={JSON.stringify(filters)} filters={filters} onChosen={choose} />
      <Loaded query={found}>
        {(campaigns) =>
          campaigns.length === 0 ? (
            <NoCampaigns filters={filters} />
          ) : (
            <>
              <CampaignList campaigns={campaigns} workspaceId={workspaceId} />
              <Pages filters={filters} isLast={campaigns.length < campaignsPerPage} onChosen={choose} />
            </>
          )
        }
      </Loaded>
      <RequestBehind curl={curlOf({ method: 'POST', path: '/v5/campaigns/search', workspaceId, body })}>
        This search returns the list above, without the figures.
      </RequestBehind>
    </Stack>
  );
}

function CampaignList({ campaigns, workspaceId }: { campaigns: ListedCampaign[]; workspaceId: string }) {
  return (
    <DataTable
      label="Campaigns"
      minWidth={860}
      rows={campaigns}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          cell: ({ id, campaignId, isExecution, name, tags, versionNumber }) => (
            <>
              <RouteLink
                to="/w/$workspaceId/campaigns/$campaignId"
                params={{ workspaceId, campaignId: isExecution ? campaignId : id }}
                style={{ overflowWrap: 'anywhere' }}
              >
                {name}
              </RouteLink>
              <Group gap={4} mt={2}>
                <Text size="xs">{id}</Text>
                <CopyTextButton text={id} label={`id of ${name}`} />
                {isExecution && <Text size="xs">execution</Text>}
                {versionNumber !== null && <Text size="xs">version {versionNumber}</Text>}
                {tags.map((tag) => (
                  <Badge key={tag} size="sm">
                    {tag}
                  </Badge>
                ))}
              </Group>
            </>
          ),
        },
        { key: 'status', title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        {
          key: 'type',
          title: 'Type',
          cell: ({ deliveryType, channel }) => (
            <>
              <Text size="sm">{deliveryType.replaceAll('_', ' ').toLowerCase()}</Text>
              <Text size="xs">{channel}</Text>
            </>
          ),
        },
        {
          key: 'reachable',
          title: 'Reachable devices',
          isNumber: true,
          cell: ({ reachableDevices }) => reachableDevices?.toLocaleString('en') ?? '–',
        },
        {
          key: 'created',
          title: 'Created',
          cell: ({ createdAt, createdBy }) => (
            <>
              <Text size="sm" component="div">
                <Time at={createdAt} />
              </Text>
              <Text size="xs">by {createdBy}</Text>
            </>
          ),
        },
        { key: 'sent', title: 'Last sent', cell: ({ sentAt }) => (sentAt === null ? '–' : <Time at={sentAt} />) },
      ]}
    />
  );
}

type PagesProps = { filters: CampaignFilters; isLast: boolean; onChosen: (filters: CampaignFilters) => void };

/** V5 says no total (interface 4.6): the last page is the first one that is not full. */
function Pages({ filters, isLast, onChosen }: PagesProps) {
  const { page = 1, ...rest } = filters;
  return (
    <Group justify="space-between">
      <Text size="sm">Page {page}</Text>
      <Group gap="xs">
        <Button
          variant="default"
          disabled={page === 1}
          onClick={() => onChosen(page === 2 ? rest : { ...rest, page: page - 1 })}
        >
          Newer
        </Button>
        <Button variant="default" disabled={isLast} onClick={() => onChosen({ ...rest, page: page + 1 })}>
          Older
        </Button>
      </Group>
    </Group>
  );
}

function NoCampaigns({ filters }: { filters: CampaignFilters }) {
  const { id: workspaceId } = useWorkspace();
  const overview = useQuery({
    queryKey: ['overview', workspaceId],
    queryFn: () => consoleClient.overview.read(workspaceId),
    staleTime: 60_000,
  });
  if (Object.keys(filters).length > 0)
    return <EmptyState title="No matching campaigns">Remove a filter, or try another view.</EmptyState>;
  const command = overview.data?.curl;
  return (
    <EmptyState title="Nothing sent yet" {...(command === undefined ? {} : { command })}>
      Paste this into a terminal, and a campaign appears here.
    </EmptyState>
  );
}
