import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconUserCircle } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { useMay, useSession } from './use-session.ts';

/** Who is signed in, and what concerns people. */
export function AccountMenu() {
  const { workspaceId = '' } = useParams({ strict: false });
  const { account } = useSession();
  const managesAccounts = useMay('accounts.manage');
  // A new page forgets everything that this one has read.
  const signOut = useMutation({
    mutationFn: () => consoleClient.accounts.signOut(),
    onSettled: () => location.assign('/console/'),
  });
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-md"
          loading={signOut.isPending}
          maw={200}
          leftSection={<IconUserCircle size={18} stroke={1.6} aria-hidden />}
          rightSection={<IconChevronDown size={14} stroke={1.6} aria-hidden />}
        >
          {account.name}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label c="inherit">
          {account.email ?? 'Signed in by the start link'} · {account.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/w/$workspaceId/account" params={{ workspaceId } as never}>
          Sessions and password
        </Menu.Item>
        {managesAccounts && (
          <Menu.Item component={Link} to="/w/$workspaceId/accounts" params={{ workspaceId } as never}>
            Accounts and roles
          </Menu.Item>
        )}
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
