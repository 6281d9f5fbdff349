import { createContext, useContext } from 'react';
import type { ConsoleSession, Permission } from '../api/generated/accounts.ts';

export const SessionContext = createContext<ConsoleSession | undefined>(undefined);

/** Who is signed in and what this installation has. Everything below the gate has a session. */
export function useSession(): ConsoleSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('outside of the session gate');
  return session;
}

/** Whether the server would let this person; what it would refuse is not offered. */
export function useMay(permission: Permission): boolean {
  return useSession().permissions.includes(permission);
}
