import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { consoleClient } from '../console.ts';
import { forgetDrafts } from '../parts/forms/drafts.ts';
import { useListedScreens } from '../shell/listed-screens.ts';
import { AccountButton } from './account-button.tsx';
import { useRoleNames, useSession } from './use-session.ts';

/** The opened account menu. It is loaded on the first click, so it opens at once. */
export function OpenedAccountMenu() {
  const { workspaceId = '' } = useParams({ strict: false });
  const { account } = useSession();
  const roleNames = useRoleNames();
  const screens = useListedScreens().filter(({ place }) => place === 'Account menu');
  // A new page drops all cached data of this session.
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
          {account.email ?? 'Signed in by the start link'} · {roleNames}
        </Menu.Label>
        {screens.map(({ title, to }) => (
          <Menu.Item key={to} component={Link} to={to} params={{ workspaceId } as never}>
            {title}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
