import { Alert, Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SegmentDetail } from '../api/generated/segment.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Copyable, CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Definition } from '../parts/definition.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { Time } from '../parts/time.tsx';
import { FileForm } from './file-form.tsx';
import { FillProgress, megabytes } from './fill-progress.tsx';
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
  const { attributeName, attributeType, name } = segment;
  return (
    <Stack gap="lg">
      <PageHeader
        title={name}
        about={<About segment={segment} />}
        actions={mayWrite && <StateButton segment={segment} workspaceId={workspaceId} onChanged={renew} />}
      />
      {segment.stateReason !== null && <Alert title={segment.state}>{segment.stateReason}</Alert>}
      {segment.progress !== null && <FillProgress progress={segment.progress} />}
      {segment.kind === 'FILE' && <Operations segment={segment} workspaceId={workspaceId} />}
      {mayWrite && attributeName !== null && attributeType !== null && segment.state !== 'ARCHIVED' && (
        <FileForm
          workspaceId={workspaceId}
          segment={{ name, attributeName, attributeType }}
          onAccepted={() => void renew()}
        />
      )}
      {readsLog && segment.operations.length > 0 && (
        <MessageLog workspaceId={workspaceId} operationIds={segment.operations.map(({ id }) => id)} />
      )}
      {readsUsers && segment.kind !== 'FILTER' && <Members segment={segment} workspaceId={workspaceId} />}
      <Campaigns segment={segment} workspaceId={workspaceId} />
    </Stack>
  );
}

function About({ segment }: { segment: SegmentDetail }) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <StatusBadge status={segment.state} />
        <Text size="sm" component="div">
          <b>{segment.userCount?.toLocaleString('en') ?? 'an unknown number of'}</b> people
          {segment.attributeName !== null && `, found by ${segment.attributeName} (${segment.attributeType})`} · created{' '}
          <Time at={segment.createdAt} />
          {segment.expiresAt !== null && segment.archivedAt === null && (
            <>
              {' '}
              · archived <Time at={segment.expiresAt} />
            </>
          )}
        </Text>
      </Group>
      <Copyable text={segment.id} label="segment id" />
    </Stack>
  );
}

type StateButtonProps = { segment: SegmentDetail; workspaceId: string; onChanged: () => Promise<unknown> };

function StateButton({ segment, workspaceId, onChanged }: StateButtonProps) {
  const key = { workspaceId, id: segment.id };
  if (segment.state === 'ARCHIVED')
    return (
      <ConfirmButton
        label="Unarchive"
        color="accent"
        title={`Unarchive “${segment.name}”?`}
        hits="It counts as active again and its expiry starts over. Members deleted 30 days after archiving do not come back."
        onConfirmed={async () => {
          await consoleClient.segments.unarchive(key);
          await onChanged();
        }}
      />
    );
  return (
    <ConfirmButton
      label="Archive"
      title={`Archive “${segment.name}”?`}
      hits={`Campaigns to this segments ${segment.userCount?.toLocaleString('en') ?? ''} people that are not sent yet fail, and its members are deleted after 30 days.`}
      onConfirmed={async () => {
        await consoleClient.segments.archive(key);
        await onChanged();
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
                  {operation.fileUrl ?? 'posted'} ({megabytes(operation.bytesRead)}) by {operation.requestedBy}
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
            title: <Definition word="Found" means="Lines in the file; a trailing newline adds none." />,
            isNumber: true,
            cell: ({ valuesFound }) => number(valuesFound),
          },
          {
            key: 'processed',
            title: (
              <Definition word="Processed" means="Lines left after empty, invalid and duplicate ones were skipped." />
            ),
            isNumber: true,
            cell: ({ valuesProcessed }) => number(valuesProcessed),
          },
          {
            key: 'users',
            title: <Definition word="People" means="People named by a line whom the operation added or removed." />,
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
            cell: ({ endedAt }) => (endedAt === null ? '–' : <Time at={endedAt} />),
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
                { key: 'created', title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
