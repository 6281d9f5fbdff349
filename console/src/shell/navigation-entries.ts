import {
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
import { useSession } from '../session/use-session.ts';
import { screenPermissions } from './screen-permissions.ts';

export type NavigationEntry = {
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
