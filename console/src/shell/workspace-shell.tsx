import {
  Alert,
  Burger,
  Code,
  Container,
  Group,
  Text,
  ActionIcon,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { IconMoon, IconSun } from '@tabler/icons-react';
import { Outlet, useParams, useRouterState, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { Toasts } from '../parts/toast/toast.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { AccountMenu } from '../session/account-menu.tsx';
import { usePermissions, useSession } from '../session/use-session.ts';
import { AlertBell } from './alert-bell.tsx';
import { Navigation, NavigationSwitch } from './navigation.tsx';
import { PaletteButton } from './palette-button.tsx';
import { SkipLink } from './skip-link.tsx';
import styles from './workspace-shell.module.css';
import { rememberWorkspace } from './workspace.ts';

const mainId = 'main';

// Most installations have one workspace, so the select and its parts are loaded only if there are more.
const WorkspaceSelect = lazy(async () => ({ default: (await import('./workspace-select.tsx')).WorkspaceSelect }));
const ForbiddenPage = lazy(async () => ({ default: (await import('./forbidden-page.tsx')).ForbiddenPage }));

/** The frame around the screens of a workspace. */
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
          {isKnown && <AlertBell workspaceId={workspaceId} />}
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

/** The screen, or a notice if the user's role does not allow it. */
function Screen() {
  const permissions = usePermissions();
  const needs = useRouterState({ select: ({ matches }) => matches.at(-1)?.staticData.permission });
  return needs === undefined || permissions.includes(needs) ? <Outlet /> : <ForbiddenPage needs={needs} />;
}

/** Moves the focus to the top of a new screen, for keyboards and screen readers. */
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
      This address names the workspace <Code>{id}</Code>. It does not exist in this installation, or you have no role in
      it. An owner can give you one.
    </Alert>
  );
}

/** The logo and the name. The picture is also the browser's icon. */
function Mark() {
  return (
    <Group gap={8} wrap="nowrap">
      <img src={`${import.meta.env.BASE_URL}favicon.svg`} width={26} height={26} alt="" />
      <Text fw={600} fz={16} style={{ letterSpacing: '-0.01em' }} visibleFrom="xs">
        Carillon
      </Text>
    </Group>
  );
}

/**
 * The name of the workspace, or a select if there are several. A choice opens the overview, because ids belong to one
 * workspace.
 */
function WorkspaceSwitch({ workspaceId }: { workspaceId: string }) {
  const { workspaces } = useSession();
  const navigate = useNavigate();
  if (workspaces.length === 1)
    return (
      <Text size="sm" visibleFrom="xs">
        {workspaces[0]!.name}
      </Text>
    );
  return (
    <Suspense fallback={null}>
      <WorkspaceSelect
        aria-label="Workspace"
        size="xs"
        value={workspaceId}
        data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(event) =>
          void navigate({ to: '/w/$workspaceId', params: { workspaceId: event.currentTarget.value }, search: {} })
        }
      />
    </Suspense>
  );
}

/** Switches between light and dark. The default follows the system. */
function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  const label = other === 'dark' ? 'Dark' : 'Light';
  const Icon = other === 'dark' ? IconMoon : IconSun;
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={() => setColorScheme(other)}>
        <Icon size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
