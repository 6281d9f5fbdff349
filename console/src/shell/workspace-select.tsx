/** A separate module, because the shell loads it only if there are several workspaces. */
export { NativeSelect as WorkspaceSelect } from '@mantine/core';
