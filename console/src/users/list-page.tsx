import { Button, Group, Stack, TextInput, Text, Title } from '@mantine/core';
import { useQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { FoundUser } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Failure } from '../parts/failure.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink, TabLink, TabLinks } from '../parts/links.tsx';
import { Ago } from '../parts/text/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { SuspectedDevices, suspectedDevicesQuery } from './suspected-devices.tsx';

const route = getRouteApi('/w/$workspaceId/people');

/** Finds users, and lists suspected devices. */
export function UsersPage() {
  const { view } = route.useSearch();
  return (
    <Stack gap="md">
      <PageHeader about="Devices, segments, and what happened to every message." />
      <UserListTabs />
      {view === 'suspected' ? <SuspectedDevices /> : <UserSearch />}
    </Stack>
  );
}

/** Finds a user by id, token or attribute. The address holds the search. */
function UserSearch() {
  const { id: workspaceId } = useWorkspace();
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const mayAdd = useMay('people.write');
  const found = useQuery({
    queryKey: ['people', workspaceId, q],
    queryFn: () => consoleClient.users.search({ workspaceId, q }),
    enabled: q !== '',
  });
  return (
    <>
      <form
        key={q}
        role="search"
        aria-label="People"
        onSubmit={(event) => {
          event.preventDefault();
          const word = String(new FormData(event.currentTarget).get('q') ?? '').trim();
          void navigate({ search: word === '' ? {} : { q: word } });
        }}
      >
        <Group align="end" gap="xs" wrap="nowrap">
          <TextInput
            name="q"
            label="User id, device token or attribute value"
            description="The complete value, exactly as it was sent"
            defaultValue={q}
            style={{ flex: '1 1 220px', maxWidth: 420, minWidth: 0 }}
          />
          <Button type="submit">Find</Button>
        </Group>
      </form>
      {q === '' ? (
        <>
          <SearchPrompt />
          <TestUsers workspaceId={workspaceId} />
          {mayAdd && (
            <AskedForm label="Add user">
              {(onLeave) => <AddUserForm workspaceId={workspaceId} onLeave={onLeave} />}
            </AskedForm>
          )}
        </>
      ) : (
        <Loaded query={found}>
          {(users) => (users.length === 0 ? <NoResults q={q} /> : <UsersTable users={users} />)}
        </Loaded>
      )}
    </>
  );
}

function UsersTable({ users }: { users: FoundUser[] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <DataTable
      label="People"
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

function SearchPrompt() {
  const { id } = useWorkspace();
  return (
    <EmptyState
      title="Search for a user"
      command={[
        `curl -X POST '${location.origin}/v1/customer/${id}' \\`,
        `  -u '${id}:<data key>' -H 'content-type: application/json' \\`,
        `  -d '{"type":"customer","customer_id":"ana","attributes":{"city":"Lisbon"}}'`,
      ].join('\n')}
    >
      This creates a user with your data key; then search for <em>ana</em> or <em>Lisbon</em>.
    </EmptyState>
  );
}

function NoResults({ q }: { q: string }) {
  return (
    <EmptyState title="No matching users">
      No user id, device token or attribute in this workspace is exactly <em>{q}</em>. The search is case-sensitive.
    </EmptyState>
  );
}

/** Tabs: the search, and the suspected devices of all users with their number. */
function UserListTabs() {
  const { workspaceId } = route.useParams();
  const { view } = route.useSearch();
  const newest = useQuery(suspectedDevicesQuery({ workspaceId }));
  const count = newest.data && `: ${newest.data.devices.length}${newest.data.next === null ? '' : ' or more'}`;
  return (
    <TabLinks label="Users">
      <TabLink to="/w/$workspaceId/people" params={{ workspaceId }} search={{}} isCurrent={view === undefined}>
        Find a user
      </TabLink>
      <TabLink
        to="/w/$workspaceId/people"
        params={{ workspaceId }}
        search={{ view: 'suspected' }}
        isCurrent={view === 'suspected'}
      >
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
function TestUsers({ workspaceId }: { workspaceId: string }) {
  const marked = useQuery({
    queryKey: ['test-people', workspaceId],
    queryFn: () => consoleClient.users.listForTests(workspaceId),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Marked for tests
      </Title>
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
