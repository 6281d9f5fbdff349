import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { Ago } from '../parts/ago.tsx';

/** Whom tests of campaigns are sent to. */
export function TestUsers({ workspaceId }: { workspaceId: string }) {
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
