import { NavLink, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** Screens that exist, in the order of a day's work. A screen joins this list with its route. */
const links = [{ name: 'Overview', to: '/w/$workspaceId' }] as const;

export function Navigation({ workspaceId, onChosen }: { workspaceId: string; onChosen: () => void }) {
  return (
    <nav aria-label="Screens">
      <Stack gap={2}>
        {links.map(({ name, to }) => (
          <Link
            key={to}
            to={to}
            params={{ workspaceId }}
            activeOptions={{ exact: to === '/w/$workspaceId', includeSearch: false }}
            onClick={onChosen}
            style={{ textDecoration: 'none', color: 'inherit' }}
          >
            {({ isActive }) => <NavLink component="span" label={name} active={isActive} />}
          </Link>
        ))}
      </Stack>
    </nav>
  );
}
