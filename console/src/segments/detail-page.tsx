import { Alert, Card, Group, Stack, Text, Code } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { SegmentDetail } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { Callbacks } from '../log/callbacks.tsx';
import { Emails } from '../log/emails.tsx';
import { ButtonLink, RouteLink, TabLink, TabLinks } from '../parts/links.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Ids } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Section } from '../parts/section.tsx';
import { stateWords, StatusLine, StatusBadge } from '../parts/status-badge.tsx';
import { Ago } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { FileOperations } from './file-operations.tsx';
import { FillProgress } from './fill-progress.tsx';
import { FilterSummary, useFilterAnswers } from './filter/filter-summary.tsx';
import { fromFilters } from './filter/filter-tree.ts';
import { segmentTabs } from './segment-search.ts';
import type { SegmentTab } from './segment-search.ts';

const route = getRouteApi('/w/$workspaceId/segments/$segmentId');

/** A segment: its members, files and messages. */
export function SegmentPage() {
  const { workspaceId, segmentId: id } = route.useParams();
  const segment = useQuery({
    queryKey: ['segment', workspaceId, id],
    queryFn: () => consoleClient.segments.read({ workspaceId, id }),
    refetchInterval: ({ state }) => (state.data?.progress ? 1000 : 5000),
  });
  return <Loaded query={segment}>{(data) => <SegmentOf segment={data} workspaceId={workspaceId} />}</Loaded>;
}

function SegmentOf({ segment, workspaceId }: SegmentProps) {
  const queries = useQueryClient();
  const mayWrite = useMay('segments.write');
  const renew = () => queries.invalidateQueries({ queryKey: ['segment', workspaceId, segment.id] });
  return (
    <Stack gap="lg">
      <PageHeader
        title={segment.name}
        about={<About segment={segment} />}
        actions={mayWrite && <Actions segment={segment} workspaceId={workspaceId} onChanged={renew} />}
      />
      {segment.stateReason !== null && <Alert title={stateWords(segment.state)}>{segment.stateReason}</Alert>}
      {segment.progress !== null && <FillProgress progress={segment.progress} />}
      <SegmentTabLinks segment={segment} />
      <ShownTab segment={segment} workspaceId={workspaceId} />
    </Stack>
  );
}

type SegmentProps = { segment: SegmentDetail; workspaceId: string };

function SegmentTabLinks({ segment }: { segment: SegmentDetail }) {
  const { workspaceId, segmentId } = route.useParams();
  const { tab: current = 'summary' } = route.useSearch();
  const readsLog = useMay('log.read');
  const tabs = (Object.keys(segmentTabs) as SegmentTab[]).filter(
    (tab) => tab !== 'messages' || (readsLog && segment.operations.length > 0),
  );
  return (
    <TabLinks label="Segment">
      {tabs.map((tab) => (
        <TabLink
          key={tab}
          to="/w/$workspaceId/segments/$segmentId"
          params={{ workspaceId, segmentId }}
          search={tab === 'summary' ? {} : { tab }}
          resetScroll={false}
          isCurrent={tab === current}
        >
          {segmentTabs[tab]}
        </TabLink>
      ))}
    </TabLinks>
  );
}

function ShownTab({ segment, workspaceId }: SegmentProps) {
  const { tab = 'summary' } = route.useSearch();
  const mayWrite = useMay('segments.write');
  const readsUsers = useMay('people.read');
  switch (tab) {
    case 'summary':
      return (
        <>
          {segment.filters !== null && !mayWrite && <Text size="sm">{segment.description}</Text>}
          {segment.filters !== null && mayWrite && <Filters filters={segment.filters} segment={segment} />}
          {segment.kind !== 'FILTER' && <Size segment={segment} />}
          {segment.kind === 'FILE' && <FileOperations segment={segment} workspaceId={workspaceId} />}
          {readsUsers && segment.kind !== 'FILTER' && <Members segment={segment} workspaceId={workspaceId} />}
          <Ids ids={[['Segment id', segment.id]]} />
        </>
      );
    case 'campaigns':
      return <SegmentCampaigns workspaceId={workspaceId} segmentId={segment.id} />;
    case 'messages':
      return <MessageLog workspaceId={workspaceId} segmentId={segment.id} />;
  }
}

/** The users who match the filters now. */
function Filters({ segment, filters }: { segment: SegmentDetail; filters: NonNullable<SegmentDetail['filters']> }) {
  const trees = useMemo(() => fromFilters(filters), [filters]);
  const answers = useFilterAnswers({ trees, segmentId: segment.id });
  return <FilterSummary answers={answers} trees={trees} />;
}

function About({
  segment: { kind, state, userCount, attributeName, attributeType, ...times },
}: {
  segment: SegmentDetail;
}) {
  const { createdAt, expiresAt, archivedAt } = times;
  return (
    <StatusLine status={state}>
      {kind === 'FILTER' ? 'Everyone who matches its filters at send time' : sizeText(userCount)}
      {attributeName !== null && `, found by ${attributeName} (${attributeType === 'double' ? 'number' : 'text'})`} ·
      created <Ago at={createdAt} />
      {expiresAt !== null && archivedAt === null && (
        <>
          {' '}
          · expires <Ago at={expiresAt} />
        </>
      )}
    </StatusLine>
  );
}

/** The people of a segment that lists them. Filters are counted where they are shown. */
function Size({ segment: { userCount } }: { segment: SegmentDetail }) {
  return (
    <Card withBorder component="section" aria-label="Size" w={{ base: '100%', xs: 280 }}>
      <Text size="sm" c="dimmed">
        In this segment
      </Text>
      <Text fz={28} fw={600} lh={1.3}>
        {userCount === null ? '–' : userCount.toLocaleString('en')}
      </Text>
      <Text size="xs" c="dimmed">
        {userCount === 1 ? 'person' : 'people'}
      </Text>
    </Card>
  );
}

function sizeText(count: number | null): string {
  if (count === null) return 'An unknown number of people';
  return `${count.toLocaleString('en')} ${count === 1 ? 'person' : 'people'}`;
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
          Send to segment
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
        hits="It counts as active again and its expiry starts over. Members deleted 30 days after archiving are not restored."
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
      hits={`Campaigns to its ${segment.userCount?.toLocaleString('en') ?? ''} people that are not sent yet fail, and its members are deleted after 30 days.`}
      onConfirmed={async () => {
        await archive();
        showToast({ text: archived, undo: unarchive, undone: unarchived });
      }}
    />
  );
}

function Members({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const members = useQuery({
    queryKey: ['segment-members', workspaceId, segment.id, segment.userCount],
    queryFn: () => consoleClient.segments.listSampleMembers({ workspaceId, id: segment.id }),
  });
  return (
    <Section title="Sample members">
      <Loaded query={members}>
        {(ids) =>
          ids.length === 0 ? (
            <Text size="sm">No members.</Text>
          ) : (
            <Group gap="md" fz="sm">
              {ids.map((id) => (
                <RouteLink key={id} to="/w/$workspaceId/people" params={{ workspaceId }} search={{ q: id }}>
                  {id}
                </RouteLink>
              ))}
            </Group>
          )
        }
      </Loaded>
    </Section>
  );
}

type SegmentCampaignsProps = { workspaceId: string; segmentId: string };

/** Past and planned campaigns to the segment. */
function SegmentCampaigns({ workspaceId, segmentId: id }: SegmentCampaignsProps) {
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

/** Callbacks and emails about the segment's files, with every attempt. */
function MessageLog({ workspaceId, segmentId }: { workspaceId: string; segmentId: string }) {
  const callbacks = useQuery({
    queryKey: ['callbacks', workspaceId, segmentId],
    queryFn: () => consoleClient.messages.listCallbacks({ workspaceId, segmentId }),
    refetchInterval: 5000,
  });
  const emails = useQuery({
    queryKey: ['mails', workspaceId, segmentId],
    queryFn: () => consoleClient.messages.listEmails({ workspaceId, segmentId }),
    refetchInterval: 5000,
  });
  return (
    <Stack gap="lg">
      <Section title="Callbacks">
        <Loaded query={callbacks}>
          {({ callbacks: own }) =>
            own.length === 0 ? (
              <Text size="sm">No callback was requested.</Text>
            ) : (
              <Callbacks callbacks={own} workspaceId={workspaceId} />
            )
          }
        </Loaded>
      </Section>
      <Section title="Emails">
        <Loaded query={emails}>
          {({ emails: own }) =>
            own.length === 0 ? <Text size="sm">No email was requested.</Text> : <Emails emails={own} />
          }
        </Loaded>
      </Section>
    </Stack>
  );
}
