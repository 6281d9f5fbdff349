import { useParams } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import type { ConsoleSession, Permission } from '../api/generated/accounts.ts';

export const SessionContext = createContext<ConsoleSession | undefined>(undefined);

/** The signed-in account and the installation. Components below the gate always have a session. */
export function useSession(): ConsoleSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('outside of the session gate');
  return session;
}

/** Returns what the server allows in the workspace of the address. */
export function usePermissions(): readonly Permission[] {
  const { workspaceId } = useParams({ strict: false });
  return useSession().workspaces.find(({ id }) => id === workspaceId)?.permissions ?? [];
}

/** Returns true if the server grants the permission here. The console hides actions that the server would reject. */
export function useMay(permission: Permission): boolean {
  return usePermissions().includes(permission);
}

/** Returns the user's roles in the workspace of the address, as text: "marketer and developer". */
export function useRoleNames(): string {
  const { workspaceId } = useParams({ strict: false });
  const { account, workspaces } = useSession();
  const roles = workspaces.find(({ id }) => id === workspaceId)?.roles ?? account.roles;
  return roles.length === 0 ? 'no role' : roles.join(' and ');
}
