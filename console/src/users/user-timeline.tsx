import { Button, Code, Group, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TimelineEntry } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Failure } from '../parts/failure.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { RouteLink } from '../parts/links.tsx';
import { Ago } from '../parts/text/time.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { mergeNewest } from './merge-newest.ts';
import type { TimelinePages } from './merge-newest.ts';

const words: Record<TimelineEntry['kind'], string> = {
  EVENT: 'did',
  MESSAGE: 'message',
  IMPRESSION: 'shown',
  CLICK: 'clicked',
  CLOSE: 'closed',
  DEVICE_REGISTERED: 'device registered',
  DEVICE_BLOCKED: 'device blocked',
  DEVICE_GONE: 'device gone',
  CHANGED: 'changed in the console',
  MERGED: 'merged',
  CREATED: 'created',
};

const changes: Record<string, string> = {
  'person.add': 'user added',
  'person.attributes': 'attributes',
  'person.test': 'mark for tests',
  'person.topics': 'topics',
  'person.device-add': 'device added',
  'person.device-block': 'device blocked',
  'person.device-unblock': 'device unblocked',
  'person.device-opt-out': 'device opted out',
  'person.device-opt-in': 'device opted in',
  'person.device-keep': 'suspected device kept',
  'person.device-remove': 'device removed',
};

// The cost of a page does not depend on its position, and only visible pages are requested.
const lookMilliseconds = 3000;

type TimelineOf = { workspaceId: string; userId: string };

/** The user's events, messages, device reports and console changes, newest first. */
export function UserTimeline({ workspaceId, userId }: TimelineOf) {
  const pages = useTimeline({ workspaceId, userId });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Timeline
      </Title>
      {pages.isPending && <Waiting />}
      {pages.error !== null && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.data && (
        <>
          <DataTable
            label="Timeline"
            minWidth={760}
            rows={pages.data.pages.flatMap(({ entries }) => entries)}
            keyOf={({ key, at }) => `${at} ${key}`}
            columns={[
              { key: 'at', title: 'When', cell: ({ at }) => <Ago at={at} /> },
              { key: 'kind', title: 'What', cell: ({ kind }) => words[kind] },
              { key: 'of', title: 'Object', cell: (entry) => <Subject workspaceId={workspaceId} entry={entry} /> },
              { key: 'detail', title: 'More', cell: (entry) => <Detail entry={entry} /> },
            ]}
          />
          {pages.hasNextPage && (
            <Group justify="center" mt="sm">
              <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Older
              </Button>
            </Group>
          )}
          <Text size="xs" mt={4}>
            New entries appear automatically. The timeline shows events and messages until they are deleted, and
            attribute changes made here.
          </Text>
        </>
      )}
    </section>
  );
}

/** The loaded pages. The newest is refetched while the page is visible. */
function useTimeline({ workspaceId, userId: id }: TimelineOf) {
  const queries = useQueryClient();
  const queryKey = ['person', workspaceId, id, 'timeline'];
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) =>
      consoleClient.users.listTimeline({ workspaceId, id, ...(pageParam === null ? {} : { after: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  useQuery({
    queryKey: ['newest-of-timeline', workspaceId, id],
    queryFn: async () => {
      const newest = await consoleClient.users.listTimeline({ workspaceId, id });
      queries.setQueryData<TimelinePages>(queryKey, (loaded) => loaded && mergeNewest(loaded, newest));
      return null;
    },
    // A page that was just loaded is not refetched at once.
    initialData: null,
    staleTime: lookMilliseconds,
    refetchInterval: lookMilliseconds,
    enabled: pages.isSuccess && !pages.isFetchingNextPage,
  });
  return pages;
}

function Subject({ workspaceId, entry }: { workspaceId: string; entry: TimelineEntry }) {
  const { kind, name, campaignId, deviceId, platform } = entry;
  if (campaignId !== null)
    return (
      <>
        <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId }}>
          {name}
        </RouteLink>
        {platform !== null && `, ${platformNames[platform]}, ${deviceId ?? 'removed since'}`}
      </>
    );
  if (kind === 'CHANGED') return changes[name ?? ''] ?? name;
  if (kind.startsWith('DEVICE')) return deviceId ?? 'removed since';
  return name === null ? '–' : <span style={{ overflowWrap: 'anywhere' }}>{name}</span>;
}

function Detail({ entry: { kind, outcome, code, detail } }: { entry: TimelineEntry }) {
  if (outcome !== null)
    return (
      <>
        {outcome.toLowerCase()} {code !== null && <Code>{code}</Code>}
      </>
    );
  if (code !== null) return <Code>{code}</Code>;
  if (kind === 'CHANGED') return describeChange(detail);
  const text = Object.entries(detail).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return (
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      {text.join(', ')}
    </Text>
  );
}

function describeChange({ by, changed, removed, isTest, platform, joined, left }: Record<string, unknown>): string {
  const names = (list: unknown) => (Array.isArray(list) && list.length > 0 ? list.join(', ') : undefined);
  return [
    `by ${String(by)}`,
    names(changed) && `set ${names(changed)}`,
    names(removed) && `removed ${names(removed)}`,
    names(joined) && `joined ${names(joined)}`,
    names(left) && `left ${names(left)}`,
    isTest === true ? 'marked' : isTest === false ? 'no longer marked' : undefined,
    typeof platform === 'string' ? platformNames[platform as keyof typeof platformNames] : undefined,
  ]
    .filter(Boolean)
    .join('; ');
}
