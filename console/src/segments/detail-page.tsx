import { Alert, Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { SegmentDetail } from '../api/generated/segment.ts';
import { consoleClient } from '../console.ts';
import { ButtonLink } from '../parts/button-link.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Copyable, CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Definition } from '../parts/definition.tsx';
import { formatBytes } from '../parts/format-bytes.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/ago.tsx';
import { Time } from '../parts/time.tsx';
import { showToast } from '../parts/toast-list.ts';
import { FilterSummary } from './filter/filter-summary.tsx';
import { fromFilters } from './filter/filter-tree.ts';
import { useFilterAnswers } from './filter/use-filter-answers.ts';
import { FillProgress } from './fill-progress.tsx';
import { useMay } from '../session/use-session.ts';
import { MessageLog } from './message-log.tsx';

const route = getRouteApi('/w/$workspaceId/segments/$segmentId');

/** Proves what a file did. */
export function SegmentPage() {
  const { workspaceId, segmentId: id } = route.useParams();
  const segment = useQuery({
    queryKey: ['segment', workspaceId, id],
    queryFn: () => consoleClient.segments.read({ workspaceId, id }),
    refetchInterval: ({ state }) => (state.data?.progress ? 1000 : 5000),
  });
  return <Loaded query={segment}>{(data) => <SegmentOf segment={data} workspaceId={workspaceId} />}</Loaded>;
}

function SegmentOf({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const queries = useQueryClient();
  const mayWrite = useMay('segments.write');
  const readsLog = useMay('log.read');
  const readsUsers = useMay('people.read');
  const renew = () => queries.invalidateQueries({ queryKey: ['segment', workspaceId, segment.id] });
  return (
    <Stack gap="lg">
      <PageHeader
        title={segment.name}
        about={<About segment={segment} />}
        actions={mayWrite && <Actions segment={segment} workspaceId={workspaceId} onChanged={renew} />}
      />
      {segment.stateReason !== null && <Alert title={segment.state}>{segment.stateReason}</Alert>}
      {segment.progress !== null && <FillProgress progress={segment.progress} />}
      {segment.filters !== null && !mayWrite && <Text size="sm">{segment.description}</Text>}
      {segment.filters !== null && mayWrite && <Filters filters={segment.filters} segment={segment} />}
      {segment.kind === 'FILE' && <Operations segment={segment} workspaceId={workspaceId} />}
      {readsLog && segment.operations.length > 0 && (
        <MessageLog workspaceId={workspaceId} operationIds={segment.operations.map(({ id }) => id)} />
      )}
      {readsUsers && segment.kind !== 'FILTER' && <Members segment={segment} workspaceId={workspaceId} />}
      <Campaigns segment={segment} workspaceId={workspaceId} />
    </Stack>
  );
}

/** Whom its filters hold now. */
function Filters({ segment, filters }: { segment: SegmentDetail; filters: NonNullable<SegmentDetail['filters']> }) {
  const trees = useMemo(() => fromFilters(filters), [filters]);
  const answers = useFilterAnswers({ trees, segmentId: segment.id });
  return <FilterSummary answers={answers} />;
}

function About({ segment }: { segment: SegmentDetail }) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StatusBadge status={segment.state} />
        <Text size="sm" component="div">
          {segment.kind === 'FILTER' ? (
            'Everybody who matches its filters when a campaign is sent'
          ) : (
            <>
              <b>{segment.userCount?.toLocaleString('en') ?? 'an unknown number of'}</b> people
            </>
          )}
          {segment.attributeName !== null && `, found by ${segment.attributeName} (${segment.attributeType})`} · created{' '}
          <Ago at={segment.createdAt} />
          {segment.expiresAt !== null && segment.archivedAt === null && (
            <>
              {' '}
              · will be archived <Time at={segment.expiresAt} />
            </>
          )}
        </Text>
      </Group>
      <Copyable text={segment.id} label="segment id" />
    </Stack>
  );
}

function Actions(props: StateButtonProps) {
  const { segment, workspaceId } = props;
  const mayCompose = useMay('campaigns.write');
  return (
    <>
      {segment.filters !== null && segment.state !== 'ARCHIVED' && (
        <ButtonLink to="/w/$workspaceId/segments/$segmentId/filter" params={{ workspaceId, segmentId: segment.id }}>
          Change filters
        </ButtonLink>
      )}
      {segment.kind === 'FILE' && segment.state !== 'ARCHIVED' && (
        <ButtonLink to="/w/$workspaceId/segments/$segmentId/file" params={{ workspaceId, segmentId: segment.id }}>
          Change by file
        </ButtonLink>
      )}
      {mayCompose && segment.state !== 'ARCHIVED' && (
        <ButtonLink
          to="/w/$workspaceId/campaigns/new"
          params={{ workspaceId }}
          search={{ segment: segment.id }}
          variant="filled"
        >
          Send to this segment
        </ButtonLink>
      )}
      <StateButton {...props} />
    </>
  );
}

type StateButtonProps = { segment: SegmentDetail; workspaceId: string; onChanged: () => Promise<unknown> };

function StateButton({ segment, workspaceId, onChanged }: StateButtonProps) {
  const key = { workspaceId, id: segment.id };
  const archive = async () => {
    await consoleClient.segments.archive(key);
    await onChanged();
  };
  const unarchive = async () => {
    await consoleClient.segments.unarchive(key);
    await onChanged();
  };
  const archived = `“${segment.name}” is archived`;
  const unarchived = `“${segment.name}” is active again`;
  if (segment.state === 'ARCHIVED')
    return (
      <ConfirmButton
        label="Unarchive"
        color="accent"
        title={`Unarchive “${segment.name}”?`}
        hits="It counts as active again and its expiry starts over. Members deleted 30 days after archiving do not come back."
        onConfirmed={async () => {
          await unarchive();
          showToast({ text: unarchived, undo: archive, undone: archived });
        }}
      />
    );
  return (
    <ConfirmButton
      label="Archive"
      title={`Archive “${segment.name}”?`}
      hits={`Campaigns to this segments ${segment.userCount?.toLocaleString('en') ?? ''} people that are not sent yet fail, and its members are deleted after 30 days.`}
      onConfirmed={async () => {
        await archive();
        showToast({ text: archived, undo: unarchive, undone: unarchived });
      }}
    />
  );
}

function Operations({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const number = (count: number | null) => count?.toLocaleString('en') ?? '–';
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        File operations
      </Title>
      <DataTable
        label="File operations"
        minWidth={900}
        rows={segment.operations}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'operation',
            title: 'File',
            cell: (operation) => (
              <>
                <Text size="sm" fw={600}>
                  {operation.number}. {operation.kind.toLowerCase()}
                </Text>
                <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
                  {operation.fileUrl ?? 'posted'} ({formatBytes(operation.bytesRead)}) by {operation.requestedBy}
                </Text>
                <Group gap={4}>
                  <Text size="xs">request {operation.requestId}</Text>
                  <CopyTextButton text={operation.requestId} label="request id" />
                </Group>
              </>
            ),
          },
          {
            key: 'state',
            title: 'State',
            cell: ({ state, errorMessage, errorDetail }) => (
              <>
                <StatusBadge status={state} />
                {errorMessage !== null && <Text size="xs">{errorMessage}</Text>}
                {errorDetail !== null && <Text size="xs">{errorDetail}</Text>}
              </>
            ),
          },
          {
            key: 'found',
            title: <Definition word="Found" />,
            isNumber: true,
            cell: ({ valuesFound }) => number(valuesFound),
          },
          {
            key: 'processed',
            title: <Definition word="Processed" />,
            isNumber: true,
            cell: ({ valuesProcessed }) => number(valuesProcessed),
          },
          {
            key: 'users',
            title: <Definition word="People" />,
            isNumber: true,
            cell: ({ userCount }) => number(userCount),
          },
          {
            key: 'rejects',
            title: 'Skipped lines',
            cell: (operation) => <Rejects operation={operation} segmentId={segment.id} workspaceId={workspaceId} />,
          },
          {
            key: 'ended',
            title: 'Ended',
            cell: ({ endedAt }) => (endedAt === null ? '–' : <Ago at={endedAt} />),
          },
        ]}
      />
    </section>
  );
}

type RejectsProps = { operation: SegmentDetail['operations'][number]; segmentId: string; workspaceId: string };

function Rejects({ operation, segmentId, workspaceId }: RejectsProps) {
  const { valuesFound, valuesProcessed } = operation;
  if (valuesProcessed === null) return '–';
  const skipped = valuesFound - valuesProcessed;
  if (skipped === 0) return 'none';
  return (
    <Anchor
      href={consoleClient.segments.rejectsUrl({ workspaceId, segmentId, operationId: operation.id })}
      underline="always"
      download
      size="sm"
    >
      {skipped.toLocaleString('en')}, with reasons (CSV)
    </Anchor>
  );
}

function Members({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const members = useQuery({
    queryKey: ['segment-members', workspaceId, segment.id, segment.userCount],
    queryFn: () => consoleClient.segments.listSampleMembers({ workspaceId, id: segment.id }),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Sample members
      </Title>
      <Loaded query={members}>
        {(ids) =>
          ids.length === 0 ? (
            <Text size="sm">It has no members.</Text>
          ) : (
            <Group gap="md">
              {ids.map((id) => (
                <Copyable key={id} text={id} label={`customer id ${id}`} />
              ))}
            </Group>
          )
        }
      </Loaded>
    </section>
  );
}

function Campaigns({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const campaigns = useQuery({
    queryKey: ['segment-campaigns', workspaceId, segment.id],
    queryFn: () => consoleClient.segments.listCampaigns({ workspaceId, id: segment.id }),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Campaigns to this segment
      </Title>
      <Loaded query={campaigns}>
        {(rows) =>
          rows.length === 0 ? (
            <Text size="sm">None yet. A push names it as customSegmentName.</Text>
          ) : (
            <DataTable
              label="Campaigns to this segment"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'name',
                  title: 'Name',
                  cell: ({ id, name }) => (
                    <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId: id }}>
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
    </section>
  );
}
