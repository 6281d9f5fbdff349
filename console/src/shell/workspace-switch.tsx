import { NativeSelect, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../session/use-session.ts';

/** Where one is; with more than one workspace, the way to another. It leads to the overview: ids are of one workspace. */
export function WorkspaceSwitch({ workspaceId }: { workspaceId: string }) {
  const { workspaces } = useSession();
  const navigate = useNavigate();
  if (workspaces.length === 1)
    return (
      <Text size="sm" visibleFrom="xs">
        {workspaces[0]!.name}
      </Text>
    );
  return (
    <NativeSelect
      aria-label="Workspace"
      size="xs"
      value={workspaceId}
      data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) =>
        void navigate({ to: '/w/$workspaceId', params: { workspaceId: event.currentTarget.value }, search: {} })
      }
    />
  );
}
