import { NavLink, Stack, Text } from '@mantine/core';
import {
  IconBroadcast,
  IconClipboardList,
  IconFlask,
  IconHome,
  IconKey,
  IconPlugConnected,
  IconSend,
  IconServer,
  IconSettings,
  IconTerminal2,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import type { TablerIcon } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Permission } from '../api/generated/session.ts';
import { useSession } from '../session/use-session.ts';

type Entry = { name: string; to: ScreenAddress; icon: TablerIcon; needs: Permission; isOfSandbox?: true };
type ScreenAddress =
  | '/w/$workspaceId'
  | `/w/$workspaceId/${'campaigns' | 'segments' | 'people' | 'deliveries' | 'log' | 'sandbox' | 'keys' | 'providers' | 'settings' | 'system' | 'audit'}`;

/** Screens by whose work they are, each in the order of a day. A screen joins with its route. */
const groups: { name: string; entries: Entry[] }[] = [
  {
    name: 'Engage',
    entries: [
      { name: 'Overview', to: '/w/$workspaceId', icon: IconHome, needs: 'overview.read' },
      { name: 'Campaigns', to: '/w/$workspaceId/campaigns', icon: IconSend, needs: 'overview.read' },
      { name: 'Segments', to: '/w/$workspaceId/segments', icon: IconUsersGroup, needs: 'overview.read' },
      { name: 'Users', to: '/w/$workspaceId/people', icon: IconUsers, needs: 'people.read' },
    ],
  },
  {
    name: 'Data',
    entries: [
      { name: 'Delivery log', to: '/w/$workspaceId/deliveries', icon: IconBroadcast, needs: 'people.read' },
      { name: 'API log', to: '/w/$workspaceId/log', icon: IconTerminal2, needs: 'log.read' },
    ],
  },
  {
    name: 'Developers',
    entries: [
      { name: 'Keys', to: '/w/$workspaceId/keys', icon: IconKey, needs: 'keys.read' },
      { name: 'Sandbox', to: '/w/$workspaceId/sandbox', icon: IconFlask, needs: 'sandbox.use', isOfSandbox: true },
    ],
  },
  {
    name: 'Operate',
    entries: [
      { name: 'Providers', to: '/w/$workspaceId/providers', icon: IconPlugConnected, needs: 'overview.read' },
      { name: 'System', to: '/w/$workspaceId/system', icon: IconServer, needs: 'system.read' },
      { name: 'Audit log', to: '/w/$workspaceId/audit', icon: IconClipboardList, needs: 'audit.read' },
      { name: 'Settings', to: '/w/$workspaceId/settings', icon: IconSettings, needs: 'settings.write' },
    ],
  },
];

export function Navigation({ workspaceId, onChosen }: { workspaceId: string; onChosen: () => void }) {
  const { permissions, isSandbox } = useSession();
  const isShown = ({ needs, isOfSandbox }: Entry) => permissions.includes(needs) && (isSandbox || !isOfSandbox);
  return (
    <Stack gap={20}>
      {groups
        .map(({ name, entries }) => ({ name, entries: entries.filter(isShown) }))
        .filter(({ entries }) => entries.length > 0)
        .map(({ name, entries }) => (
          <Stack key={name} gap={2} role="group" aria-label={name}>
            <Text fz={12} fw={500} c="dimmed" px={10} mb={2} aria-hidden>
              {name}
            </Text>
            {entries.map((entry) => (
              <EntryLink key={entry.to} entry={entry} workspaceId={workspaceId} onChosen={onChosen} />
            ))}
          </Stack>
        ))}
    </Stack>
  );
}

type EntryLinkProps = { entry: Entry; workspaceId: string; onChosen: () => void };

function EntryLink({ entry: { name, to, icon: Icon }, workspaceId, onChosen }: EntryLinkProps) {
  return (
    <Link
      to={to}
      params={{ workspaceId }}
      search={{}}
      activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
      onClick={onChosen}
      style={{ textDecoration: 'none', color: 'inherit' }}
    >
      {({ isActive }) => (
        <NavLink
          component="span"
          label={name}
          leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
          active={isActive}
          variant="light"
          styles={{
            root: { borderRadius: 6, padding: '6px 10px', minHeight: 34 },
            label: { fontSize: 14, fontWeight: isActive ? 600 : 400 },
            section: { marginInlineEnd: 10 },
          }}
        />
      )}
    </Link>
  );
}
