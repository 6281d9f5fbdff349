import { ActionIcon, NavLink, Stack, Text, Tooltip } from '@mantine/core';
import {
  IconBook2,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconBell,
  IconBroadcast,
  IconCalendar,
  IconChartLine,
  IconClipboardList,
  IconFlask,
  IconHome,
  IconKey,
  IconPlugConnected,
  IconSend,
  IconServer,
  IconSettings,
  IconTemplate,
  IconTerminal2,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { TablerIcon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/use-session.ts';
import { screenPermissions } from './screens.ts';

type NavigationProps = {
  workspaceId: string;
  /** Icons alone; each says its name to the mouse, the keyboard and a screen reader. */
  isNarrow: boolean;
  onChosen: () => void;
};

/** The way to every screen; the active one is marked, also where icons stand alone. */
export function Navigation({ workspaceId, isNarrow, onChosen }: NavigationProps) {
  return (
    <Stack gap={isNarrow ? 12 : 16}>
      {useNavigationGroups().map(({ name, entries }) => (
        <Stack key={name} gap={2} role="group" aria-label={name}>
          {!isNarrow && (
            <Text fz={12} fw={500} c="dimmed" px={10} mb={2} aria-hidden>
              {name}
            </Text>
          )}
          {entries.map((entry) => (
            <EntryLink key={entry.to} {...{ entry, workspaceId, isNarrow, onChosen }} />
          ))}
          {name === 'Developers' && <DocsLink isNarrow={isNarrow} />}
        </Stack>
      ))}
    </Stack>
  );
}

const linkStyle = { textDecoration: 'none', color: 'inherit' };

type EntryLinkProps = NavigationProps & { entry: NavigationEntry };

function EntryLink({ entry: { name, to, icon: Icon }, workspaceId, isNarrow, onChosen }: EntryLinkProps) {
  return (
    <Tooltip label={name} position="right" disabled={!isNarrow}>
      <Link
        to={to}
        params={{ workspaceId }}
        search={{}}
        activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
        onClick={onChosen}
        style={linkStyle}
        {...(isNarrow && { 'aria-label': name })}
      >
        {({ isActive }) => <EntryLabel {...{ name, icon: Icon, isNarrow, isActive }} />}
      </Link>
    </Tooltip>
  );
}

/** To the documentation, which is no screen of the console. */
function DocsLink({ isNarrow }: { isNarrow: boolean }) {
  const name = 'API reference';
  return (
    <Tooltip label={name} position="right" disabled={!isNarrow}>
      <a href="/docs" style={linkStyle} {...(isNarrow && { 'aria-label': name })}>
        <EntryLabel {...{ name, icon: IconBook2, isNarrow, isActive: false }} />
      </a>
    </Tooltip>
  );
}

type EntryLabelProps = Pick<NavigationEntry, 'name' | 'icon'> & { isNarrow: boolean; isActive: boolean };

function EntryLabel({ name, icon: Icon, isNarrow, isActive }: EntryLabelProps) {
  const label = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isActive && label.current) reveal(label.current);
  }, [isActive]);
  return (
    <NavLink
      ref={label}
      component="span"
      label={isNarrow ? undefined : name}
      leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
      active={isActive}
      variant="light"
      styles={{
        root: { borderRadius: 6, padding: '5px 10px', minHeight: 32, ...(isNarrow && { width: 38 }) },
        body: isNarrow ? { display: 'none' } : {},
        label: { fontSize: 14, fontWeight: isActive ? 600 : 400 },
        section: { marginInlineEnd: isNarrow ? 0 : 10 },
      }}
    />
  );
}

/** In a low window the last screens lie below its edge. After scrollIntoView the keyboard would go on from there. */
function reveal(element: HTMLElement): void {
  const list = element.closest('[data-scrolls]');
  if (list) list.scrollTop += Math.max(0, element.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom);
}

/** Makes room for the screen; not on a phone, where the list covers it and goes again. */
export function NavigationSwitch({ isNarrow, onToggled }: { isNarrow: boolean; onToggled: () => void }) {
  const label = isNarrow ? 'Expand the navigation' : 'Collapse the navigation';
  const Icon = isNarrow ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <Tooltip label={label} position="right">
      <ActionIcon
        variant="subtle"
        color="gray"
        size={38}
        visibleFrom="sm"
        aria-label={label}
        aria-expanded={!isNarrow}
        onClick={onToggled}
      >
        <Icon size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

type NavigationEntry = {
  name: string;
  to: ScreenAddress;
  icon: TablerIcon;
  isOfSandbox?: true;
};
type ScreenAddress =
  | '/w/$workspaceId'
  | `/w/$workspaceId/${'campaigns' | 'calendar' | 'templates' | 'segments' | 'people' | 'deliveries' | 'log' | 'sandbox' | 'keys' | 'providers' | 'settings' | 'alerts' | 'metrics' | 'system' | 'audit'}`;

/** Screens by whose work they are, each in the order of a day. A screen joins with its route. */
const groups: { name: string; entries: NavigationEntry[] }[] = [
  {
    name: 'Engage',
    entries: [
      { name: 'Overview', to: '/w/$workspaceId', icon: IconHome },
      { name: 'Campaigns', to: '/w/$workspaceId/campaigns', icon: IconSend },
      { name: 'Calendar', to: '/w/$workspaceId/calendar', icon: IconCalendar },
      { name: 'Templates', to: '/w/$workspaceId/templates', icon: IconTemplate },
      { name: 'Segments', to: '/w/$workspaceId/segments', icon: IconUsersGroup },
      { name: 'Users', to: '/w/$workspaceId/people', icon: IconUsers },
    ],
  },
  {
    name: 'Data',
    entries: [
      { name: 'Delivery log', to: '/w/$workspaceId/deliveries', icon: IconBroadcast },
      { name: 'API log', to: '/w/$workspaceId/log', icon: IconTerminal2 },
    ],
  },
  {
    name: 'Developers',
    entries: [
      { name: 'Keys', to: '/w/$workspaceId/keys', icon: IconKey },
      { name: 'Sandbox', to: '/w/$workspaceId/sandbox', icon: IconFlask, isOfSandbox: true },
    ],
  },
  {
    name: 'Operate',
    entries: [
      { name: 'Providers', to: '/w/$workspaceId/providers', icon: IconPlugConnected },
      { name: 'Alerts', to: '/w/$workspaceId/alerts', icon: IconBell },
      { name: 'Metrics', to: '/w/$workspaceId/metrics', icon: IconChartLine },
      { name: 'System', to: '/w/$workspaceId/system', icon: IconServer },
      { name: 'Audit log', to: '/w/$workspaceId/audit', icon: IconClipboardList },
      { name: 'Settings', to: '/w/$workspaceId/settings', icon: IconSettings },
    ],
  },
];

/** The screens that this person may open here, in their groups. */
export function useNavigationGroups(): { name: string; entries: NavigationEntry[] }[] {
  const { permissions, isSandbox } = useSession();
  return groups
    .map(({ name, entries }) => ({
      name,
      entries: entries.filter(
        ({ to, isOfSandbox }) =>
          permissions.includes(screenPermissions[to]!) && (isSandbox || isOfSandbox === undefined),
      ),
    }))
    .filter(({ entries }) => entries.length > 0);
}
