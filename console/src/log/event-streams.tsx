import { Badge, Card, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleEventStream, DeadEventBatch } from '../api/generated/event-streams.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Copyable } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Notice } from '../parts/notice.tsx';
import { RouteLink } from '../parts/links.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import type { LogSearch } from './log-search.ts';

const howTo = `curl -X POST "$URL/v1/event-streams" -u "$WORKSPACE:$DATA_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"url":"https://shop.example.com/events"}'`;

/** The receivers of message events, their failures, and batches that can be resent. */
export function EventStreams({ search }: { search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const streams = useQuery({
    queryKey: ['event-streams', workspaceId],
    queryFn: () => consoleClient.streams.list(workspaceId),
    refetchInterval: 5000,
  });
  return (
    <Loaded query={streams}>
      {(found) =>
        found.length === 0 ? (
          <EmptyState title="No event streams yet" command={howTo}>
            A stream sends the events of each message (delivered, clicked, cleared) to your URL or bucket.
          </EmptyState>
        ) : (
          <Stack gap="lg">
            {found.map((stream) => (
              <StreamCard key={stream.id} stream={stream} search={search} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

function StreamCard({ stream, search }: { stream: ConsoleEventStream; search: LogSearch }) {
  const { url, objectStore, events, deliveredEvents, lastDeliveredAt } = stream;
  const { pendingBatches, deadBatches, silentSince, pausedUntil } = stream;
  return (
    <Card withBorder component="section" aria-label={`Stream to ${url}`}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Stack gap={4} style={{ minWidth: 0 }}>
            <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {url}
            </Title>
            <Group gap={4}>
              {objectStore !== null && <Badge color="gray">bucket</Badge>}
              {events.map((kind) => (
                <Badge key={kind}>{kind.replace('_', ' ')}</Badge>
              ))}
            </Group>
          </Stack>
          <StreamState stream={stream} />
        </Group>
        <Text size="sm" component="div">
          {deliveredEvents.toLocaleString('en')} events delivered
          {lastDeliveredAt !== null && (
            <>
              , the last <Ago at={lastDeliveredAt} />
            </>
          )}
          . {pendingBatches.toLocaleString('en')} {pendingBatches === 1 ? 'batch waits' : 'batches wait'} to be{' '}
          {objectStore === null ? 'posted' : 'stored'}
          {deadBatches > 0 && `, ${deadBatches.toLocaleString('en')} given up`}.
        </Text>
        {silentSince !== null && pausedUntil !== null && (
          <Notice tone="warning">
            The {objectStore === null ? 'receiver' : 'object store'} stopped answering <Ago at={silentSince} />.
            Carillon tries it with one batch a minute and sends the rest as soon as it answers.
          </Notice>
        )}
        <Copyable text={stream.id} label="stream id" />
        {deadBatches > 0 && <DeadBatches stream={stream} search={search} />}
      </Stack>
    </Card>
  );
}

function StreamState({ stream }: { stream: ConsoleEventStream }) {
  const { deadBatches, pendingBatches, lastDeliveredAt, pausedUntil } = stream;
  if (pausedUntil !== null) return <ToneBadge tone="failed">No answer</ToneBadge>;
  if (deadBatches > 0) return <ToneBadge tone="failed">Undelivered</ToneBadge>;
  if (pendingBatches > 0) return <ToneBadge tone="going">Posting</ToneBadge>;
  return lastDeliveredAt === null ? (
    <ToneBadge tone="still">Nothing yet</ToneBadge>
  ) : (
    <ToneBadge tone="done">Delivered</ToneBadge>
  );
}

function DeadBatches({ stream, search }: { stream: ConsoleEventStream; search: LogSearch }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const mayResend = useMay('log.resend');
  const { after } = search;
  const page = useQuery({
    queryKey: ['event-streams', workspaceId, stream.id, after, stream.deadBatches],
    queryFn: () => consoleClient.streams.listDeadBatches({ workspaceId, id: stream.id, after }),
  });
  const resend = async (batchId?: string) => {
    const { batches } = await consoleClient.streams.resend({ workspaceId, id: stream.id, batchId });
    await queries.invalidateQueries({ queryKey: ['event-streams', workspaceId] });
    showToast({ text: batches === 1 ? '1 batch is sent again' : `${batches} batches are sent again` });
  };
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={3} size="h6">
          Undelivered batches
        </Title>
        {mayResend && (
          <ConfirmButton
            label="Send all again"
            color="accent"
            title="Send all of them again?"
            hits={`${stream.url} gets ${stream.deadBatches.toLocaleString('en')} batches ${repeatsOf(stream).all}`}
            onConfirmed={() => resend()}
          />
        )}
      </Group>
      <Loaded query={page}>
        {({ batches, next }) => (
          <>
            <DataTable
              label="Undelivered batches"
              minWidth={720}
              rows={batches}
              keyOf={({ id }) => id}
              columns={[
                { key: 'ended', title: 'Given up', cell: ({ endedAt }) => <Ago at={endedAt} /> },
                {
                  key: 'events',
                  title: 'Events',
                  isNumber: true,
                  cell: ({ events }) => events.toLocaleString('en'),
                },
                { key: 'first', title: 'First event', cell: ({ firstEventAt }) => <Ago at={firstEventAt} /> },
                { key: 'attempts', title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
                { key: 'answer', title: 'Last answer', cell: (batch) => <LastAnswer batch={batch} /> },
                ...(mayResend
                  ? [
                      {
                        key: 'resend',
                        title: 'Actions',
                        cell: ({ id, events }: DeadEventBatch) => (
                          <ConfirmButton
                            label="Send again"
                            size="compact-xs"
                            color="accent"
                            title="Send this batch again?"
                            hits={`${stream.url} gets ${events.toLocaleString('en')} events ${repeatsOf(stream).one}`}
                            onConfirmed={() => resend(id)}
                          />
                        ),
                      },
                    ]
                  : []),
              ]}
            />
            {next !== null && (
              <RouteLink
                to="/w/$workspaceId/log"
                params={{ workspaceId }}
                search={{ ...search, after: next }}
                activeProps={{}}
              >
                Older
              </RouteLink>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** What a repeat means for the receiver. */
function repeatsOf({ objectStore }: ConsoleEventStream) {
  return objectStore === null
    ? {
        all: 'under the same webhook-ids; a receiver that keeps ids drops repeats.',
        one: 'under the same webhook-id.',
      }
    : { all: 'as objects of the same names, which replace earlier ones.', one: 'as the object of the same name.' };
}

function LastAnswer({ batch: { lastStatus, lastError } }: { batch: DeadEventBatch }) {
  return lastStatus === null ? <>{lastError ?? 'none'}</> : <Code>HTTP {lastStatus}</Code>;
}
