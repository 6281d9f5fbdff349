import { Group } from '@mantine/core';
import { RouteLink } from '../parts/route-link.tsx';
import { useWorkspace } from '../shell/workspace.ts';

/** From one page of the settings to the other. */
export function SettingsLinks() {
  const { id: workspaceId } = useWorkspace();
  const active = { style: { fontWeight: 700, textDecoration: 'none' } };
  return (
    <Group component="nav" gap="md" aria-label="Settings">
      <RouteLink to="/w/$workspaceId/settings" params={{ workspaceId }} activeProps={active}>
        Workspace
      </RouteLink>
      <RouteLink to="/w/$workspaceId/providers" params={{ workspaceId }} activeProps={active}>
        Providers
      </RouteLink>
    </Group>
  );
}
