import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Time } from '../parts/time.tsx';

/** Whom tests of campaigns are sent to. */
export function TestPeople({ workspaceId }: { workspaceId: string }) {
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
        {(people) =>
          people.length === 0 ? (
            <Text size="sm">
              Nobody. Open a person and mark them for tests, and a test of a campaign is offered to be sent to them.
            </Text>
          ) : (
            <DataTable
              label="Marked for tests"
              rows={people}
              keyOf={({ id }) => id}
              columns={[
                {
                  key: 'person',
                  title: 'User id',
                  cell: ({ id: personId, customerId }) => (
                    <RouteLink to="/w/$workspaceId/people/$personId" params={{ workspaceId, personId }}>
                      {customerId}
                    </RouteLink>
                  ),
                },
                { key: 'devices', title: 'Devices', isNumber: true, cell: ({ devices }) => devices },
                { key: 'updated', title: 'Last changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
