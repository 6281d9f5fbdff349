import { Group, Stack, Text, TextInput, Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConsoleSegment, SegmentList } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink, RouteLink } from '../parts/links.tsx';
import { CopyTextButton } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { shownColumns, ColumnChoice } from '../parts/lists/column-choice.tsx';
import type { ColumnSet } from '../parts/lists/column-choice.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { SavedViews } from '../parts/lists/saved-views.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { FillProgress } from './fill-progress.tsx';
import { readSegmentListSearch, segmentOrders } from './segment-search.ts';
import type { SegmentListSearch, SegmentOrder } from './segment-search.ts';

const route = getRouteApi('/w/$workspaceId/segments');
const kindNames = { FILE: 'File', FILTER: 'Filters', COHORT: 'Partner cohort' } as const;
const sourceNames = { API: 'API', CONSOLE: 'Console', PARTNER: 'Partner' } as const;

/** Lists segments and creates new ones. */
export function SegmentsPage() {
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('segments.write');
  const segments = useQuery({
    queryKey: ['segments', workspaceId],
    queryFn: () => consoleClient.segments.list(workspaceId),
    // Refetches each second while a file is processed, otherwise less often.
    refetchInterval: ({ state }) => (isFilling(state.data) ? 1000 : 5000),
  });
  return (
    <Stack gap="md">
      <PageHeader
        about={
          segments.data &&
          `${segments.data.active.toLocaleString('en')} of ${segments.data.maxActive.toLocaleString('en')} active`
        }
        actions={
          mayWrite && (
            <>
              <ButtonLink to="/w/$workspaceId/segments/new/file" params={{ workspaceId }}>
                Create from file
              </ButtonLink>
              <ButtonLink to="/w/$workspaceId/segments/new/filter" params={{ workspaceId }} variant="filled">
                Create from filters
              </ButtonLink>
            </>
          )
        }
      />
      <TextInput
        label="Name contains"
        maw={420}
        value={search.name ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const { name: _name, ...others } = search;
          void navigate({ search: value === '' ? others : { ...others, name: value }, replace: true });
        }}
      />
      <SegmentFilters search={search} onChosen={(next) => void navigate({ search: next })} />
      <Loaded query={segments}>
        {(data) => <SegmentTable list={data} search={search} workspaceId={workspaceId} />}
      </Loaded>
    </Stack>
  );
}

function isFilling(list: SegmentList | undefined): boolean {
  return list?.segments.some(({ progress }) => progress !== null) ?? false;
}

type SegmentTableProps = { list: SegmentList; search: SegmentListSearch; workspaceId: string };

function SegmentTable({ list, search, workspaceId }: SegmentTableProps) {
  const shown = chosenSegments(list.segments, search);
  const columns = shownColumns(search.columns, segmentColumns);
  if (list.segments.length === 0)
    return (
      <EmptyState
        title="No segments yet"
        command="npm run carillon -- segments create --name First --attribute u_em --type string --expiry-days 30 --file people.csv"
      >
        Create one from a file or from filters, here, on the command line or through the API.
      </EmptyState>
    );
  if (shown.length === 0) return <EmptyState title="No matching segments">Remove a filter.</EmptyState>;
  return (
    <DataTable
      label="Segments"
      minWidth={340 + columns.length * 120}
      rows={shown}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          title: 'Name',
          cell: (segment) => (
            <Group gap={4} wrap="nowrap">
              <RouteLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId: segment.id }}>
                {segment.name}
              </RouteLink>
              <CopyTextButton text={segment.id} label={`id of ${segment.name}`} />
            </Group>
          ),
        },
        { key: 'state', title: 'State', cell: (segment) => <StateOf segment={segment} /> },
        ...columns.map((column) => ({
          key: column,
          title: segmentColumns.names[column],
          isNumber: column === 'users',
          cell: cells[column],
        })),
      ]}
    />
  );
}

const cells: Record<SegmentColumn, (segment: ConsoleSegment) => ReactNode> = {
  kind: ({ kind }) => kindNames[kind],
  users: ({ userCount }) => userCount?.toLocaleString('en') ?? 'When sent',
  attribute: ({ attributeName }) => attributeName ?? '–',
  source: ({ source }) => sourceNames[source],
  expiry: ({ archivedAt, expiresAt }) =>
    archivedAt !== null ? (
      <Ago at={archivedAt} />
    ) : expiresAt !== null ? (
      <>
        Due <Ago at={expiresAt} />
      </>
    ) : (
      'Never'
    ),
  created: ({ createdAt }) => <Ago at={createdAt} />,
};

function StateOf({ segment }: { segment: ConsoleSegment }) {
  return (
    <>
      <StatusBadge status={segment.state} />
      {segment.stateReason !== null && <Text size="xs">{segment.stateReason}</Text>}
      {segment.progress !== null && <FillProgress progress={segment.progress} />}
    </>
  );
}

type SegmentFiltersProps = { search: SegmentListSearch; onChosen: (search: SegmentListSearch) => void };

const states = [
  ['active', 'Active'],
  ['archived', 'Archived'],
] as const;

/** Quick filters as buttons that switch on and off, and the order. */
function SegmentFilters({ search, onChosen }: SegmentFiltersProps) {
  const { state: chosen, ...otherStates } = search;
  const { order, ...otherOrders } = search;
  const { columns, ...others } = search;
  const { id: workspaceId } = useWorkspace();
  return (
    <Group justify="space-between" gap="xs">
      <Group gap={6} role="group" aria-label="Quick filters">
        {states.map(([state, name]) => (
          <Button
            key={state}
            size="compact-sm"
            radius="xl"
            variant={state === chosen ? 'light' : 'default'}
            aria-pressed={state === chosen}
            onClick={() => onChosen(state === chosen ? otherStates : { ...otherStates, state })}
          >
            {name}
          </Button>
        ))}
      </Group>
      <Group gap="xs">
        <NativeSelect
          aria-label="Order"
          size="xs"
          value={order ?? ''}
          data={[
            { value: '', label: 'Newest first' },
            ...Object.entries(segmentOrders).map(([value, label]) => ({ value, label })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            onChosen(value === '' ? otherOrders : { ...otherOrders, order: value as SegmentOrder })
          }
        />
        <ColumnChoice
          of={segmentColumns}
          asked={columns}
          onChosen={(next) => onChosen(next ? { ...others, columns: next } : others)}
        />
        <SavedViews
          screen="segments"
          search={search}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/segments"
              params={{ workspaceId }}
              search={readSegmentListSearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </Group>
    </Group>
  );
}

/** Returns the matching segments in the chosen order. The server returns the newest first. */
function chosenSegments(segments: ConsoleSegment[], search: SegmentListSearch): ConsoleSegment[] {
  const { name = '', state, order } = search;
  const found = segments.filter(
    (segment) =>
      segment.name.toLowerCase().includes(name.toLowerCase()) &&
      (state === undefined || (segment.state === 'ARCHIVED') === (state === 'archived')),
  );
  switch (order) {
    case 'name':
      return found.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
    case 'largest':
      return found.toSorted((one, other) => (other.userCount ?? -1) - (one.userCount ?? -1));
    case 'oldest':
      return found.toReversed();
    case undefined:
      return found;
    default:
      return order satisfies never;
  }
}

type SegmentColumn = 'kind' | 'users' | 'attribute' | 'source' | 'expiry' | 'created';

/** Optional columns, in addition to name and state. */
const segmentColumns: ColumnSet<SegmentColumn> = {
  names: {
    kind: 'From',
    users: 'People',
    attribute: 'Found by',
    source: 'Made by',
    expiry: 'Archived',
    created: 'Created',
  },
  usual: ['kind', 'users', 'expiry', 'created'],
};
