import { useQuery } from '@tanstack/react-query';
import type { Role } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';

/** The props of every form on the sign-in page. */
export type EntranceProps = { onEntered: () => void };

/** The ways to sign in; undefined while they load. The settings are constant while the server runs. */
export function useEntrance() {
  const entrance = useQuery({
    queryKey: ['entrance'],
    queryFn: () => consoleClient.accounts.readEntrance(),
    staleTime: Infinity,
  });
  return entrance.data;
}

/** Returns a predicate: true if users of the role may sign in with a password. */
export function usePasswordsOf(): (role: Role | null) => boolean {
  const entrance = useEntrance();
  return (role) => role === 'owner' || entrance?.passwordSignIn !== 'owners';
}
