import { NavLink, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Permission } from '../api/generated/session.ts';
import { useSession } from '../session/use-session.ts';

type Entry = { name: string; to: ScreenAddress; needs: Permission; isOfSandbox?: true };
type ScreenAddress =
  | '/w/$workspaceId'
  | `/w/$workspaceId/${'campaigns' | 'segments' | 'people' | 'deliveries' | 'log' | 'sandbox' | 'keys' | 'settings' | 'system'}`;

/** Screens that exist, in the order of a day's work. A screen joins this list with its route. */
const entries: Entry[] = [
  { name: 'Overview', to: '/w/$workspaceId', needs: 'overview.read' },
  { name: 'Campaigns', to: '/w/$workspaceId/campaigns', needs: 'overview.read' },
  { name: 'Segments', to: '/w/$workspaceId/segments', needs: 'overview.read' },
  { name: 'People', to: '/w/$workspaceId/people', needs: 'people.read' },
  { name: 'Delivery log', to: '/w/$workspaceId/deliveries', needs: 'people.read' },
  { name: 'API log', to: '/w/$workspaceId/log', needs: 'log.read' },
  { name: 'Sandbox', to: '/w/$workspaceId/sandbox', needs: 'sandbox.use', isOfSandbox: true },
  { name: 'Keys', to: '/w/$workspaceId/keys', needs: 'keys.read' },
  { name: 'Settings', to: '/w/$workspaceId/settings', needs: 'settings.write' },
  { name: 'System', to: '/w/$workspaceId/system', needs: 'system.read' },
];

export function Navigation({ workspaceId, onChosen }: { workspaceId: string; onChosen: () => void }) {
  const { permissions, isSandbox } = useSession();
  return (
    <Stack gap={2}>
      {entries
        .filter(({ needs, isOfSandbox }) => permissions.includes(needs) && (isSandbox || !isOfSandbox))
        .map(({ name, to }) => (
          <Link
            key={to}
            to={to}
            params={{ workspaceId }}
            search={{}}
            activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
            onClick={onChosen}
            style={{ textDecoration: 'none', color: 'inherit' }}
          >
            {({ isActive }) => <NavLink component="span" label={name} active={isActive} variant="filled" />}
          </Link>
        ))}
    </Stack>
  );
}
