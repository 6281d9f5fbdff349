import { Button, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { useMay, useSession } from './use-session.ts';

/** Who is signed in, and what concerns people. */
export function AccountMenu() {
  const { workspaceId = '' } = useParams({ strict: false });
  const { account } = useSession();
  const managesAccounts = useMay('accounts.manage');
  const readsAudit = useMay('audit.read');
  // A new page forgets everything that this one has read.
  const signOut = useMutation({
    mutationFn: () => consoleClient.accounts.signOut(),
    onSettled: () => location.assign('/console/'),
  });
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <Button variant="default" size="compact-sm" loading={signOut.isPending} maw={160}>
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
        {readsAudit && (
          <Menu.Item component={Link} to="/w/$workspaceId/audit" params={{ workspaceId } as never}>
            Audit log
          </Menu.Item>
        )}
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
