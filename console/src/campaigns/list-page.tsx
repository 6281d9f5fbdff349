import { Button, Group, Stack, Text, NativeSelect } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { ButtonLink, RouteLink, TabLink, TabLinks } from '../parts/links.tsx';
import { curlOf, RequestBehind } from '../parts/curl.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ColumnChoice, shownColumns } from '../parts/lists/column-choice.tsx';
import { SavedViews } from '../parts/lists/saved-views.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { CampaignFilterForm, QuickFilters } from './campaign-filter-form.tsx';
import { campaignsPerPage, readCampaignFilters, toSearchBody, campaignViews } from './campaign-filters.ts';
import type { CampaignFilters, CampaignView } from './campaign-filters.ts';
import { campaignColumns, CampaignTable } from './campaign-table.tsx';

const route = getRouteApi('/w/$workspaceId/campaigns');

/** Finds campaigns. The address holds the query, which is a V5 search. */
export function CampaignsPage() {
  const { id: workspaceId } = useWorkspace();
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('campaigns.write');
  const body = toSearchBody(filters);
  const found = useQuery({
    queryKey: ['campaigns', workspaceId, body, filters.order],
    queryFn: () => consoleClient.campaigns.search(workspaceId, body, filters.order),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
  const { columns, ...others } = filters;
  const { page: _page, ...kept } = filters;
  const choose = (search: CampaignFilters) => void navigate({ search });
  return (
    <Stack gap="md">
      <PageHeader
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
      <Group justify="space-between" gap="xs">
        <QuickFilters filters={filters} onChosen={choose} />
        <Group gap="xs">
          <ListOrder filters={filters} onChosen={choose} />
          <ColumnChoice
            of={campaignColumns}
            asked={columns}
            onChosen={(next) => choose(next ? { ...others, columns: next } : others)}
          />
          <SavedViews
            screen="campaigns"
            search={kept}
            linkOf={({ search, ...link }) => (
              <RouteLink
                to="/w/$workspaceId/campaigns"
                params={{ workspaceId }}
                search={readCampaignFilters(search)}
                activeProps={{}}
                {...link}
              />
            )}
          />
        </Group>
      </Group>
      <Loaded query={found} waiting={<Waiting rows={8} />}>
        {(campaigns) =>
          campaigns.length === 0 ? (
            <NoCampaigns filters={filters} />
          ) : (
            <>
              <CampaignTable campaigns={campaigns} columns={shownColumns(columns, campaignColumns)} />
              <Pages filters={filters} isLast={campaigns.length < campaignsPerPage} onChosen={choose} />
            </>
          )
        }
      </Loaded>
      <RequestBehind curl={curlOf({ method: 'POST', path: '/v5/campaigns/search', workspaceId, body })}>
        This search returns the list above, newest first and without the figures.
      </RequestBehind>
    </Stack>
  );
}

type PagesProps = { filters: CampaignFilters; isLast: boolean; onChosen: (filters: CampaignFilters) => void };

/** V5 returns no total (interface 4.6), so the first page that is not full is the last one. */
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
  const { order: _order, columns: _columns, ...narrowing } = filters;
  if (Object.keys(narrowing).length > 0)
    return <EmptyState title="No matching campaigns">Remove a filter, or try another view.</EmptyState>;
  const command = overview.data?.curl;
  return (
    <EmptyState title="Nothing sent yet" {...(command === undefined ? {} : { command })}>
      Paste this into a terminal, and a campaign appears here.
    </EmptyState>
  );
}

/** Links to campaigns by status. They keep the filters. */
function CampaignViews({ filters }: { filters: CampaignFilters }) {
  const { workspaceId } = route.useParams();
  const { view: current = 'all', page: _page, ...rest } = filters;
  return (
    <TabLinks label="Views">
      {(Object.keys(campaignViews) as CampaignView[]).map((view) => (
        <TabLink
          key={view}
          to="/w/$workspaceId/campaigns"
          params={{ workspaceId }}
          search={view === 'all' ? rest : { ...rest, view }}
          isCurrent={view === current}
        >
          {campaignViews[view].name}
        </TabLink>
      ))}
    </TabLinks>
  );
}

type ListOrderProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };

/** The order of the list. The index supports only the creation time, in both directions. */
function ListOrder({ filters, onChosen }: ListOrderProps) {
  const { order, page: _page, ...others } = filters;
  return (
    <NativeSelect
      aria-label="Order"
      size="xs"
      value={order ?? 'newest'}
      data={[
        { value: 'newest', label: 'Newest first' },
        { value: 'oldest', label: 'Oldest first' },
      ]}
      onChange={({ currentTarget: { value } }) =>
        onChosen(value === 'oldest' ? { ...others, order: 'oldest' } : others)
      }
    />
  );
}
