import { Alert, AppShell, Burger, Code, Container, Group, ScrollArea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useRef } from 'react';
import { Waiting } from '../parts/waiting.tsx';
import { AccountMenu } from '../session/account-menu.tsx';
import { useSession } from '../session/use-session.ts';
import { Mark } from './mark.tsx';
import { Navigation } from './navigation.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import { SkipLink } from './skip-link.tsx';
import { rememberWorkspace } from './workspace.ts';
import { WorkspaceSwitch } from './workspace-switch.tsx';
import styles from './workspace-shell.module.css';

const mainId = 'main';

/** What surrounds the screens of a workspace. */
export function WorkspaceShell() {
  const { workspaceId } = useParams({ from: '/w/$workspaceId' });
  const isKnown = useSession().workspaces.some(({ id }) => id === workspaceId);
  const [isOpen, menu] = useDisclosure(false);
  useEffect(() => {
    if (isKnown) rememberWorkspace(workspaceId);
  }, [isKnown, workspaceId]);
  useFocusOnNavigation();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="lg"
    >
      <SkipLink target={mainId} />
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the list of screens' : 'Open the list of screens'}
              aria-expanded={isOpen}
            />
            <Mark />
            <WorkspaceSwitch workspaceId={workspaceId} />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SchemeSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Screens" {...(!isOpen && { className: styles.closed! })}>
        <AppShell.Section grow component={ScrollArea} p="sm" pt="md">
          <Navigation workspaceId={workspaceId} onChosen={menu.close} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id={mainId} tabIndex={-1} style={{ outline: 'none' }}>
        <Container size={1240} px={0} py="xs">
          <Suspense fallback={<Waiting />}>{isKnown ? <Outlet /> : <UnknownWorkspace id={workspaceId} />}</Suspense>
        </Container>
      </AppShell.Main>
    </AppShell>
  );
}

/** Another screen: a keyboard or a screen reader begins at its top, not where the link was. */
function useFocusOnNavigation(): void {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) document.getElementById(mainId)?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [path]);
}

function UnknownWorkspace({ id }: { id: string }) {
  return (
    <Alert title="Workspace not found">
      This address names the workspace <Code>{id}</Code>, which does not exist in this installation.
    </Alert>
  );
}
