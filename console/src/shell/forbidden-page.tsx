import { Anchor, Card, Code, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Permission } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { RouteLink } from '../parts/links.tsx';
import { useRoleNames, useSession } from '../session/use-session.ts';
import { useWorkspace } from './workspace.ts';

/** Says that the user's role does not allow the screen, and lists the owners who can change the role. */
export function ForbiddenPage({ needs }: { needs: Permission }) {
  const { id: workspaceId } = useWorkspace();
  const { account } = useSession();
  const roleNames = useRoleNames();
  const owners = useQuery({ queryKey: ['owners'], queryFn: () => consoleClient.accounts.listOwners() });
  return (
    <Stack gap="lg" maw={640}>
      <PageHeader title="You have no access to this page" />
      <Card withBorder>
        <Stack gap="sm">
          <Text size="md">
            You are signed in as {account.name}, whose role in this workspace is <b>{roleNames}</b>. The page needs the
            permission <Code>{needs}</Code>, which this role does not have.
          </Text>
          <Loaded query={owners}>
            {(found) =>
              found.length === 0 ? (
                <Text size="md">
                  This installation has no owner yet. The person who runs the server can create the first one.
                </Text>
              ) : (
                <>
                  <Text size="md">An owner can give you another role:</Text>
                  <List size="md">
                    {found.map(({ name, email }) => (
                      <List.Item key={email}>
                        {name},{' '}
                        <Anchor href={`mailto:${email}`} underline="always" inherit>
                          {email}
                        </Anchor>
                      </List.Item>
                    ))}
                  </List>
                </>
              )
            }
          </Loaded>
          <Text size="md">
            <RouteLink to="/w/$workspaceId" params={{ workspaceId }}>
              Go to the overview
            </RouteLink>
          </Text>
        </Stack>
      </Card>
    </Stack>
  );
}
