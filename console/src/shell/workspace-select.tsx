/** In a module of its own, because the shell loads it only for several workspaces. */
export { NativeSelect as WorkspaceSelect } from '@mantine/core';
