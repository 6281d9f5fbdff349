import { ActionIcon, NavLink, Stack, Text, Tooltip } from '@mantine/core';
import { IconBook2, IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { navigationGroups } from '../screens.ts';
import type { NavigationGroup } from '../screens.ts';
import { useListedScreens } from './listed-screens.ts';
import type { ListedScreen } from './listed-screens.ts';

type NavigationProps = {
  workspaceId: string;
  /** Shows only icons. Each has a tooltip and an accessible name. */
  isNarrow: boolean;
  onChosen: () => void;
};

/** Links to the screens. The active one is marked, also in the narrow form. */
export function Navigation({ workspaceId, isNarrow, onChosen }: NavigationProps) {
  return (
    <Stack gap={isNarrow ? 12 : 10}>
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

type EntryLinkProps = NavigationProps & { entry: ListedScreen };

function EntryLink({ entry: { title, to, icon: Icon }, workspaceId, isNarrow, onChosen }: EntryLinkProps) {
  return (
    <Tooltip label={title} position="right" disabled={!isNarrow}>
      <Link
        to={to}
        params={{ workspaceId }}
        search={{}}
        activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
        onClick={onChosen}
        style={linkStyle}
        {...(isNarrow && { 'aria-label': title })}
      >
        {({ isActive }) => <EntryLabel {...{ title, icon: Icon, isNarrow, isActive }} />}
      </Link>
    </Tooltip>
  );
}

/** A link to the documentation, which is not a screen of the console. */
function DocsLink({ isNarrow }: { isNarrow: boolean }) {
  const title = 'API reference';
  return (
    <Tooltip label={title} position="right" disabled={!isNarrow}>
      <a href="/docs" style={linkStyle} {...(isNarrow && { 'aria-label': title })}>
        <EntryLabel {...{ title, icon: IconBook2, isNarrow, isActive: false }} />
      </a>
    </Tooltip>
  );
}

type EntryLabelProps = Pick<ListedScreen, 'title' | 'icon'> & { isNarrow: boolean; isActive: boolean };

function EntryLabel({ title, icon: Icon, isNarrow, isActive }: EntryLabelProps) {
  const label = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isActive && label.current) reveal(label.current);
  }, [isActive]);
  return (
    <NavLink
      ref={label}
      component="span"
      label={isNarrow ? undefined : title}
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

/** Scrolls the active link into view in a low window. scrollIntoView would also move the start of the tab order. */
function reveal(element: HTMLElement): void {
  const list = element.closest('[data-scrolls]');
  if (list) list.scrollTop += Math.max(0, element.getBoundingClientRect().bottom - list.getBoundingClientRect().bottom);
}

/** Collapses the navigation to icons. A phone has no such button, because the navigation covers the screen there. */
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

/** The screens that this user may open here, in their groups. */
export function useNavigationGroups(): { name: NavigationGroup; entries: ListedScreen[] }[] {
  const listed = useListedScreens();
  return navigationGroups
    .map((name) => ({ name, entries: listed.filter(({ place }) => place === name) }))
    .filter(({ entries }) => entries.length > 0);
}
