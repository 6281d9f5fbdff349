import { useParams } from '@tanstack/react-router';
import type { ConsoleWorkspace } from '../api/generated/accounts.ts';
import { useSession } from '../session/use-session.ts';

const lastWorkspace = 'carillon.workspace';

/** Returns the workspace in the address. Screens below /w/$workspaceId always have one. */
export function useWorkspace(): ConsoleWorkspace {
  const { workspaceId } = useParams({ strict: false });
  const workspace = useSession().workspaces.find(({ id }) => id === workspaceId);
  if (!workspace) throw new Error(`no workspace ${workspaceId ?? ''} in the address`);
  return workspace;
}

export function rememberWorkspace(id: string): void {
  localStorage.setItem(lastWorkspace, id);
}

/** Returns the workspace last used in this browser if it still exists, otherwise the oldest. */
export function firstWorkspace(workspaces: ConsoleWorkspace[]): ConsoleWorkspace | undefined {
  const remembered = localStorage.getItem(lastWorkspace);
  return workspaces.find(({ id }) => id === remembered) ?? workspaces[0];
}
