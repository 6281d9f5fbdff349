import { Button, Group, Stack, TextInput, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { keepPreviousData, useQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { FoundUser, ListedUser } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Paging } from '../parts/lists/paging.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink, TabLink, TabLinks } from '../parts/links.tsx';
import { Definition } from '../parts/text/definition.tsx';
import { platformNames } from '../parts/text/platform-names.ts';
import { Ago } from '../parts/text/time.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { SuspectedDevices, suspectedDevicesQuery } from './suspected-devices.tsx';

const route = getRouteApi('/w/$workspaceId/people');

/** Lists users, finds them by a part of what names them, and lists test users and suspected devices. */
export function UsersPage() {
  const { view } = route.useSearch();
  return (
    <Stack gap="md">
      <PageHeader about="Devices, segments, and what happened to every message." />
      <UserListTabs />
      {view === undefined && <AllUsers />}
      {view === 'tests' && <TestUsers />}
      {view === 'suspected' && <SuspectedDevices />}
    </Stack>
  );
}

/** All users, newest first, or those that a search finds. The address holds the search and the page. */
function AllUsers() {
  const { id: workspaceId } = useWorkspace();
  const { q = '', after } = route.useSearch();
  const navigate = route.useNavigate();
  const listed = useQuery({
    queryKey: ['people-list', workspaceId, q, after],
    queryFn: () =>
      consoleClient.users.list({
        workspaceId,
        ...(q === '' ? {} : { part: q }),
        ...(after === undefined ? {} : { after }),
      }),
    placeholderData: keepPreviousData,
  });
  const exact = useQuery({
    queryKey: ['people', workspaceId, q],
    queryFn: () => consoleClient.users.search({ workspaceId, q }),
    enabled: q !== '' && after === undefined,
  });
  const turn = (page: string | undefined) =>
    void navigate({ search: { ...(q === '' ? {} : { q }), ...(page === undefined ? {} : { after: page }) } });
  return (
    <>
      <SearchForm key={q} q={q} onSearched={(word) => void navigate({ search: word === '' ? {} : { q: word } })} />
      <Loaded query={listed}>
        {({ users, next, tooSlowAfterSeconds: tooSlowAfter }) => {
          const others = (exact.data ?? []).filter(({ id }) => !users.some((user) => user.id === id));
          if (users.length > 0 || others.length > 0)
            return (
              <>
                {q !== '' && after === undefined && others.length > 0 && <ExactTable users={others} />}
                {users.length > 0 && <ListTable users={users} />}
                <Paging after={after} next={next} onTurned={turn} />
              </>
            );
          if (q === '') return <NoUsers />;
          return exact.isPending ? <Waiting /> : <NoResults q={q} tooSlowAfterSeconds={tooSlowAfter} />;
        }}
      </Loaded>
    </>
  );
}

function SearchForm({ q, onSearched }: { q: string; onSearched: (word: string) => void }) {
  const { id: workspaceId } = useWorkspace();
  const mayAdd = useMay('people.write');
  const [isAdding, adding] = useDisclosure(false);
  return (
    <>
      <form
        role="search"
        aria-label="People"
        onSubmit={(event) => {
          event.preventDefault();
          onSearched(String(new FormData(event.currentTarget).get('q') ?? '').trim());
        }}
      >
        <Group align="end" gap="xs">
          <TextInput
            name="q"
            type="search"
            label="Search"
            description="A part of a user id, name or email address, or a complete device token or attribute value"
            defaultValue={q}
            style={{ flex: '1 1 260px', maxWidth: 560, minWidth: 0 }}
          />
          <Button type="submit">Find</Button>
          {q !== '' && (
            <Button variant="default" onClick={() => onSearched('')}>
              Show all
            </Button>
          )}
          {mayAdd && !isAdding && (
            <Button variant="default" ml="auto" onClick={adding.open}>
              Add user
            </Button>
          )}
        </Group>
      </form>
      {isAdding && <AddUserForm workspaceId={workspaceId} onLeave={adding.close} />}
    </>
  );
}

function ListTable({ users }: { users: ListedUser[] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <DataTable
      label="People"
      rows={users}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'person',
          title: 'User',
          cell: ({ id, customerId, name }) => (
            <div>
              <RouteLink
                to="/w/$workspaceId/people/$userId"
                params={{ workspaceId, userId: id }}
                style={{ overflowWrap: 'anywhere', fontWeight: 500 }}
              >
                {name ?? customerId}
              </RouteLink>
              <Group gap={4} wrap="nowrap">
                {name !== null && (
                  <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {customerId}
                  </Text>
                )}
                <CopyTextButton text={customerId} label={`user id ${customerId}`} />
              </Group>
            </div>
          ),
        },
        {
          key: 'email',
          title: 'Email',
          cell: ({ email }) => <span style={{ overflowWrap: 'anywhere' }}>{email ?? none}</span>,
        },
        {
          key: 'devices',
          title: 'Devices',
          cell: ({ devices, platforms }) =>
            platforms.length === 0 ? none : `${devices} · ${platforms.map((one) => platformNames[one]).join(', ')}`,
        },
        {
          key: 'seen',
          title: <Definition word="Last seen" />,
          cell: ({ lastSeenAt }) => (lastSeenAt === null ? none : <Ago at={lastSeenAt} />),
        },
        { key: 'added', title: 'Added', cell: ({ createdAt }) => <Ago at={createdAt} /> },
      ]}
    />
  );
}

const none = <span aria-label="none">–</span>;

/** Users that have exactly this device token, attribute or Carillon id. */
function ExactTable({ users }: { users: FoundUser[] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <DataTable
      label="Exact matches"
      rows={users}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'person',
          title: 'User id',
          cell: ({ id, customerId }) => (
            <Group gap="xs" wrap="nowrap">
              <RouteLink
                to="/w/$workspaceId/people/$userId"
                params={{ workspaceId, userId: id }}
                style={{ overflowWrap: 'anywhere' }}
              >
                {customerId}
              </RouteLink>
              <CopyTextButton text={customerId} label={`user id ${customerId}`} />
            </Group>
          ),
        },
        { key: 'by', title: 'Found by', cell: foundBy },
        { key: 'devices', title: 'Devices', isNumber: true, cell: ({ devices }) => devices.toLocaleString('en') },
        { key: 'updated', title: 'Last changed', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
      ]}
    />
  );
}

function foundBy({ foundBy: kind, attribute }: FoundUser): string {
  switch (kind) {
    case 'USER_ID':
      return 'User id';
    case 'CARILLON_ID':
      return 'Carillon id';
    case 'DEVICE_TOKEN':
      return 'Device token';
    case 'ATTRIBUTE':
      return `Attribute ${attribute}`;
  }
}

function NoUsers() {
  const { id } = useWorkspace();
  return (
    <EmptyState
      title="No users yet"
      command={[
        `curl -X POST '${location.origin}/v1/customer/${id}' \\`,
        `  -u '${id}:<data key>' -H 'content-type: application/json' \\`,
        `  -d '{"type":"customer","customer_id":"ana","attributes":{"city":"Lisbon"}}'`,
      ].join('\n')}
    >
      Your server creates users with the data key, and apps register themselves. This creates the first one:
    </EmptyState>
  );
}

function NoResults({ q, tooSlowAfterSeconds }: { q: string; tooSlowAfterSeconds: number | null }) {
  if (tooSlowAfterSeconds !== null)
    return (
      <EmptyState title="The search took too long">
        {`It was ended after ${tooSlowAfterSeconds} seconds. Type more of the name, or a complete user id or email address.`}
      </EmptyState>
    );
  return (
    <EmptyState title="No matching users">
      {[...q].length < 3
        ? 'Type at least three characters. Shorter words are compared with complete values only.'
        : 'No user id, name or email address contains this text, and no device token or attribute is exactly it.'}
    </EmptyState>
  );
}

/** Tabs: all users, those marked for tests, and the suspected devices of all users with their number. */
function UserListTabs() {
  const { workspaceId } = route.useParams();
  const { view } = route.useSearch();
  const newest = useQuery(suspectedDevicesQuery({ workspaceId }));
  const count = newest.data && `: ${newest.data.devices.length}${newest.data.next === null ? '' : ' or more'}`;
  const to = '/w/$workspaceId/people';
  return (
    <TabLinks label="Users">
      <TabLink to={to} params={{ workspaceId }} search={{}} isCurrent={view === undefined}>
        All users
      </TabLink>
      <TabLink to={to} params={{ workspaceId }} search={{ view: 'tests' }} isCurrent={view === 'tests'}>
        Marked for tests
      </TabLink>
      <TabLink to={to} params={{ workspaceId }} search={{ view: 'suspected' }} isCurrent={view === 'suspected'}>
        Suspected devices{count}
      </TabLink>
    </TabLinks>
  );
}

/** Creates a user for tests and opens the user's page. */
function AddUserForm({ workspaceId, onLeave }: { workspaceId: string; onLeave: () => void }) {
  const navigate = useNavigate();
  const add = useMutation({
    mutationFn: (customerId: string) => consoleClient.users.add({ workspaceId, customerId }),
    onSuccess: ({ id }) =>
      navigate({ to: '/w/$workspaceId/people/$userId', params: { workspaceId, userId: id }, search: {} }),
  });
  return (
    <form
      aria-label="Add a user"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate(String(new FormData(event.currentTarget).get('customerId')).trim());
      }}
    >
      <Group align="end" gap="sm">
        <TextInput name="customerId" label="User id of the new user" required />
        <Button type="submit" loading={add.isPending}>
          Add user
        </Button>
        <Button variant="default" onClick={onLeave}>
          Cancel
        </Button>
      </Group>
      {add.error !== null && <Failure error={add.error} />}
    </form>
  );
}

/** The users who receive tests of campaigns. */
function TestUsers() {
  const { id: workspaceId } = useWorkspace();
  const marked = useQuery({
    queryKey: ['test-people', workspaceId],
    queryFn: () => consoleClient.users.listForTests(workspaceId),
  });
  return (
    <section>
      <Loaded query={marked}>
        {(users) =>
          users.length === 0 ? (
            <Text size="sm">
              No test users. Open a user and mark them for tests to offer them as recipients of campaign tests.
            </Text>
          ) : (
            <DataTable
              label="Marked for tests"
              rows={users}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'person',
                  title: 'User id',
                  cell: ({ id: userId, customerId }) => (
                    <RouteLink to="/w/$workspaceId/people/$userId" params={{ workspaceId, userId }}>
                      {customerId}
                    </RouteLink>
                  ),
                },
                { key: 'devices', title: 'Devices', isNumber: true, cell: ({ devices }) => devices },
                { key: 'updated', title: 'Last changed', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
