import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { forgetDrafts } from '../parts/forms/drafts.ts';
import { AccountButton } from './account-button.tsx';
import { useMay, useSession } from './use-session.ts';

/** What concerns people; open from the first, since it is there for whoever asked for it. */
export function OpenedAccountMenu() {
  const { workspaceId = '' } = useParams({ strict: false });
  const { account } = useSession();
  const managesAccounts = useMay('accounts.manage');
  // A new page forgets everything that this one has read.
  const signOut = useMutation({
    mutationFn: () => consoleClient.accounts.signOut(),
    onSettled() {
      forgetDrafts();
      location.assign('/console/');
    },
  });
  return (
    <Menu defaultOpened position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <AccountButton loading={signOut.isPending} />
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
