import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConsoleSegment, SegmentList } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/button-link.tsx';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { shownColumns } from '../parts/shown-columns.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { useMay } from '../session/use-session.ts';
import { FillProgress } from './fill-progress.tsx';
import { chosenSegments, SegmentFilters } from './segment-filters.tsx';
import { segmentColumns } from './segment-columns.ts';
import type { SegmentColumn } from './segment-columns.ts';
import type { SegmentListSearch } from './segment-search.ts';

const route = getRouteApi('/w/$workspaceId/segments');
const kindNames = { FILE: 'File', FILTER: 'Filters', COHORT: 'Partner cohort' } as const;
const sourceNames = { API: 'API', CONSOLE: 'Console', PARTNER: 'Partner' } as const;

/** Sees and creates audiences. */
export function SegmentsPage() {
  const { workspaceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayWrite = useMay('segments.write');
  const segments = useQuery({
    queryKey: ['segments', workspaceId],
    queryFn: () => consoleClient.segments.list(workspaceId),
    // What is being filled moves each second; otherwise a segment of the API appears soon enough.
    refetchInterval: ({ state }) => (isFilling(state.data) ? 1000 : 5000),
  });
  return (
    <Stack gap="md">
      <PageHeader
        title="Segments"
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
