import { Alert, Burger, Code, Container, Group } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Toasts } from '../parts/toast.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { AccountMenu } from '../session/account-menu.tsx';
import { useSession } from '../session/use-session.ts';
import { Mark } from './mark.tsx';
import { Navigation, NavigationSwitch } from './navigation.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import { screenPermissions } from './screen-permissions.ts';
import { SkipLink } from './skip-link.tsx';
import { rememberWorkspace } from './workspace.ts';
import { WorkspaceSwitch } from './workspace-switch.tsx';
import styles from './workspace-shell.module.css';

const mainId = 'main';

const ForbiddenPage = lazy(async () => ({ default: (await import('./forbidden-page.tsx')).ForbiddenPage }));

/** What surrounds the screens of a workspace. */
export function WorkspaceShell() {
  const { workspaceId } = useParams({ from: '/w/$workspaceId' });
  const isKnown = useSession().workspaces.some(({ id }) => id === workspaceId);
  const [isOpen, menu] = useDisclosure(false);
  const [isNarrow, setNarrow] = useLocalStorage({ key: 'carillon.navigation.narrow', defaultValue: false });
  useEffect(() => {
    if (isKnown) rememberWorkspace(workspaceId);
  }, [isKnown, workspaceId]);
  useFocusOnNavigation();
  return (
    <div className={styles.shell} data-narrow={isNarrow || undefined} data-open={isOpen || undefined}>
      <SkipLink target={mainId} />
      <header className={styles.header}>
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
          <PaletteButton workspaceId={workspaceId} />
          <SchemeSwitch />
          <AccountMenu />
        </Group>
      </header>
      <nav className={styles.navigation} aria-label="Screens">
        <div className={styles.screens} data-scrolls>
          <Navigation workspaceId={workspaceId} isNarrow={isNarrow && !isOpen} onChosen={menu.close} />
        </div>
        <NavigationSwitch isNarrow={isNarrow} onToggled={() => setNarrow(!isNarrow)} />
      </nav>
      <main id={mainId} tabIndex={-1} className={styles.main}>
        <Container size={1440} px={0} py="xs">
          <Suspense fallback={<Waiting />}>{isKnown ? <Screen /> : <UnknownWorkspace id={workspaceId} />}</Suspense>
        </Container>
      </main>
      <Toasts />
    </div>
  );
}

/** What the address names, where the own role opens it. */
function Screen() {
  const { permissions } = useSession();
  const routeId = useRouterState({ select: ({ matches }) => matches.at(-1)?.routeId });
  const needs = screenPermissions[routeId?.replace(/\/$/, '') ?? ''];
  return needs === undefined || permissions.includes(needs) ? <Outlet /> : <ForbiddenPage needs={needs} />;
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
