import { createContext, useContext } from 'react';
import type { ConsoleSession, Permission } from '../api/generated/accounts.ts';

export const SessionContext = createContext<ConsoleSession | undefined>(undefined);

/** The signed-in account and the installation. Components below the gate always have a session. */
export function useSession(): ConsoleSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('outside of the session gate');
  return session;
}

/** Returns true if the server grants the permission. The console hides actions that the server would reject. */
export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}
