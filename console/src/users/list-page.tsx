import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { FoundUser } from '../api/generated/user.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Time } from '../parts/time.tsx';
import { useMay } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { AddPersonForm } from './add-user-form.tsx';
import { TestPeople } from './test-users.tsx';

const route = getRouteApi('/w/$workspaceId/people');

/** Finds a person by whatever is at hand. The address holds the word. */
export function PeoplePage() {
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
    <Stack gap="md">
      <PageHeader title="People" about="Their devices, their segments, and what became of every message to them." />
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
        <Group align="end" gap="sm">
          <TextInput
            name="q"
            label="User id, device token or an attribute's value"
            description="The whole of it, as it was sent"
            defaultValue={q}
            style={{ flexGrow: 1 }}
          />
          <Button type="submit">Find</Button>
        </Group>
      </form>
      {q === '' ? (
        <>
          <NobodyAsked />
          <TestPeople workspaceId={workspaceId} />
          {mayAdd && <AddPersonForm workspaceId={workspaceId} />}
        </>
      ) : (
        <Loaded query={found}>
          {(people) => (people.length === 0 ? <Nobody q={q} /> : <PeopleTable people={people} />)}
        </Loaded>
      )}
    </Stack>
  );
}

function PeopleTable({ people }: { people: FoundUser[] }) {
  const { id: workspaceId } = useWorkspace();
  return (
    <DataTable
      label="People"
      rows={people}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'person',
          title: 'User id',
          cell: ({ id, customerId }) => (
            <Group gap="xs" wrap="nowrap">
              <RouteLink
                to="/w/$workspaceId/people/$personId"
                params={{ workspaceId, personId: id }}
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
        { key: 'updated', title: 'Last changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  );
}

function foundBy({ foundBy: kind, attribute }: FoundUser): string {
  switch (kind) {
    case 'USER_ID':
      return 'user id';
    case 'CARILLON_ID':
      return 'id in Carillon';
    case 'DEVICE_TOKEN':
      return 'device token';
    case 'ATTRIBUTE':
      return `attribute ${attribute}`;
  }
}

function NobodyAsked() {
  const { id } = useWorkspace();
  return (
    <EmptyState
      title="Nobody was looked for"
      command={[
        `curl -X POST '${location.origin}/v1/customer/${id}' \\`,
        `  -u '${id}:<data key>' -H 'content-type: application/json' \\`,
        `  -d '{"type":"customer","customer_id":"ana","attributes":{"city":"Lisbon"}}'`,
      ].join('\n')}
    >
      This makes a person with your data key; then look for <em>ana</em> or <em>Lisbon</em>.
    </EmptyState>
  );
}

function Nobody({ q }: { q: string }) {
  return (
    <EmptyState title="Nobody is known by that">
      No user id, device token or attribute of this workspace is exactly <em>{q}</em>. Upper and lower case differ.
    </EmptyState>
  );
}
