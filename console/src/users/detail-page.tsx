import { Alert, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { User, UserMessage } from '../api/generated/users.ts';
import { InstallationTable } from '../apps/installation-table.tsx';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { Ids } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink, TabLink, TabLinks } from '../parts/links.tsx';
import { Section } from '../parts/section.tsx';
import { StatusBadge, ToneBadge } from '../parts/status-badge.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago, Time } from '../parts/text/time.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { AttributeTable } from './attribute-table.tsx';
import { DeviceTable } from './device-table.tsx';
import { DidTheyGetIt } from './did-they-get-it.tsx';
import { userTabs } from './user-search.ts';
import type { UserTab } from './user-search.ts';
import { UserTimeline } from './user-timeline.tsx';
import { UserTopics } from './user-topics.tsx';

const route = getRouteApi('/w/$workspaceId/people/$userId');

/** A user's devices, messages, attributes and timeline. */
export function UserPage() {
  const { id: workspaceId } = useWorkspace();
  const { userId: id } = route.useParams();
  const queries = useQueryClient();
  const mayChange = useMay('people.write');
  const queryKey = ['person', workspaceId, id];
  const onChanged = () => queries.invalidateQueries({ queryKey });
  const user = useQuery({ queryKey, queryFn: () => consoleClient.users.read({ workspaceId, id }) });
  return (
    <Loaded query={user}>
      {(data) => (
        <Stack gap="lg">
          <PageHeader
            title={data.customerId}
            about={<About user={data} />}
            actions={
              mayChange && (
                <Group gap="sm">
                  <TestMark user={data} onChanged={onChanged} />
                  {data.erasure === null && (
                    <ConfirmButton
                      label="Erase"
                      title={`Erase ${data.customerId}?`}
                      hits={<Hits user={data} />}
                      onConfirmed={async () => {
                        await consoleClient.users.erase({ workspaceId, id });
                        await onChanged();
                      }}
                    />
                  )}
                </Group>
              )
            }
          />
          {data.erasure !== null && (
            <Alert color="red" title="This user will be erased">
              On <Time at={data.erasure.dueAt} />, requested on <Time at={data.erasure.requestedAt} />. After that only
              the record of the erasure remains, <Code>{data.erasure.id}</Code>.
              {mayChange && (
                <Group mt="sm">
                  <KeepButton user={data} onChanged={onChanged} />
                </Group>
              )}
            </Alert>
          )}
          <UserTabLinks />
          <ShownTab user={data} onChanged={onChanged} />
        </Stack>
      )}
    </Loaded>
  );
}

type UserProps = { user: User; onChanged: () => Promise<unknown> };

function ShownTab({ user, onChanged }: UserProps) {
  const { id: workspaceId } = useWorkspace();
  const { tab = 'summary' } = route.useSearch();
  switch (tab) {
    case 'summary':
      return (
        <>
          <DidTheyGetIt customerId={user.customerId} />
          <DeviceTable workspaceId={workspaceId} userId={user.id} devices={user.devices} onChanged={onChanged} />
          <Installations installations={user.installations} />
          <UserTopics userId={user.id} customerId={user.customerId} />
          <Segments segments={user.segments} />
          <Ids ids={[['Carillon id', user.id]]} />
        </>
      );
    case 'messages':
      return <Messages messages={user.messages} />;
    case 'attributes':
      return <AttributeTable workspaceId={workspaceId} user={user} onChanged={onChanged} />;
    case 'timeline':
      return <UserTimeline workspaceId={workspaceId} userId={user.id} />;
  }
}

/** A scheduled erasure, which can be cancelled. After the start the user no longer exists. */
function KeepButton({ user: { id, customerId }, onChanged }: UserProps) {
  const { id: workspaceId } = useWorkspace();
  return (
    <ConfirmButton
      label="Keep user"
      title={`Keep ${customerId}?`}
      hits="The erasure is cancelled, and nothing of the user is deleted. The audit log says who did it."
      color="accent"
      onConfirmed={async () => {
        await consoleClient.users.cancelErasure({ workspaceId, id });
        await onChanged();
        showToast({ text: `${customerId} is kept` });
      }}
    />
  );
}

/** Marks the user for tests, so that the composer offers the user. */
function TestMark({ user: { id, isTest }, onChanged }: UserProps) {
  const { id: workspaceId } = useWorkspace();
  const mark = useMutation({
    mutationFn: async () => {
      await consoleClient.users.markForTests({ workspaceId, id, isTest: !isTest });
      await onChanged();
    },
  });
  return (
    <>
      {isTest && <ToneBadge tone="going">Marked for tests</ToneBadge>}
      <Button variant="default" loading={mark.isPending} onClick={() => mark.mutate()}>
        {isTest ? 'Unmark for tests' : 'Mark for tests'}
      </Button>
    </>
  );
}

function About({ user }: { user: User }) {
  return (
    <>
      Added <Ago at={user.createdAt} />, last changed <Ago at={user.updatedAt} />
      {user.mergedCustomerIds.length > 0 && `. Also known as ${user.mergedCustomerIds.join(', ')}`}
    </>
  );
}

function Hits({ user }: { user: User }) {
  const count = (many: number, word: string) => `${many.toLocaleString('en')} ${word}${many === 1 ? '' : 's'}`;
  const others = user.mergedCustomerIds;
  return (
    <>
      {count(Object.keys(user.attributes).length, 'attribute')}, {count(user.devices.length, 'device')}, the membership
      in {count(user.segments.length, 'segment')}, all events and the user&apos;s rows in the delivery log are deleted
      {others.length > 0 && `, as is what was known under ${others.join(', ')}`}. It happens after this
      installation&apos;s erasure delay and cannot be undone.
    </>
  );
}

function Messages({ messages }: { messages: UserMessage[] }) {
  const { id: workspaceId } = useWorkspace();
  const { userId } = route.useParams();
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Messages
      </Title>
      {messages.length === 0 ? (
        <Text size="sm">The delivery log has no message to this user.</Text>
      ) : (
        <DataTable
          label="Messages"
          minWidth={760}
          rows={messages}
          keyOf={({ runId, deviceId, platform, at }) => `${runId} ${deviceId} ${platform} ${at}`}
          columns={[
            { key: 'at', title: 'When', cell: ({ at }) => <Ago at={at} /> },
            {
              key: 'campaign',
              title: 'Campaign',
              cell: ({ campaignId, campaignName }) => (
                <Group gap="sm" wrap="nowrap">
                  <RouteLink to="/w/$workspaceId/campaigns/$campaignId" params={{ workspaceId, campaignId }}>
                    {campaignName}
                  </RouteLink>
                  <RouteLink
                    to="/w/$workspaceId/people/$userId"
                    params={{ workspaceId, userId }}
                    search={{ campaign: campaignId }}
                    activeProps={{}}
                    aria-label={`Explain ${campaignName}`}
                  >
                    Why?
                  </RouteLink>
                </Group>
              ),
            },
            {
              key: 'device',
              title: 'Device',
              cell: ({ deviceId, platform }) => `${platformNames[platform]}, ${deviceId ?? 'removed since'}`,
            },
            { key: 'outcome', title: 'Outcome', cell: ({ outcome }) => <StatusBadge status={outcome} /> },
            { key: 'code', title: 'Code', cell: ({ code }) => (code === null ? '–' : <Code>{code}</Code>) },
            { key: 'attempts', title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
          ]}
        />
      )}
    </section>
  );
}

/** Apps and sites that registered themselves for the user. Devices that a server registered have none. */
function Installations({ installations }: Pick<User, 'installations'>) {
  if (installations.length === 0) return null;
  return (
    <Section title="Installations">
      <InstallationTable installations={installations} />
    </Section>
  );
}

function Segments({ segments }: { segments: User['segments'] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Segments
      </Title>
      {segments.length === 0 ? (
        <Text size="sm">In no file or partner segment.</Text>
      ) : (
        <Group gap="md" fz="sm">
          {segments.map(({ id: segmentId, name }) => (
            <RouteLink key={segmentId} to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId }}>
              {name}
            </RouteLink>
          ))}
        </Group>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        Filter segments are evaluated when a campaign starts, so they are not listed.
      </Text>
    </section>
  );
}

/** The tabs of a user. The explained campaign stays when the user opens another tab. */
function UserTabLinks() {
  const { workspaceId, userId } = route.useParams();
  const { tab: current = 'summary', ...rest } = route.useSearch();
  return (
    <TabLinks label="User">
      {(Object.keys(userTabs) as UserTab[]).map((tab) => (
        <TabLink
          key={tab}
          to="/w/$workspaceId/people/$userId"
          params={{ workspaceId, userId }}
          search={tab === 'summary' ? rest : { ...rest, tab }}
          resetScroll={false}
          isCurrent={tab === current}
        >
          {userTabs[tab]}
        </TabLink>
      ))}
    </TabLinks>
  );
}
