import { useQuery } from '@tanstack/react-query';
import type { Role } from '../api/generated/accounts.ts';
import { consoleClient } from '../console.ts';

/** What every form of the entrance page is given. */
export type EntranceProps = { onEntered: () => void };

/** What one may come in by here; undefined until it is known. Settings hold as long as the server runs. */
export function useEntrance() {
  const entrance = useQuery({
    queryKey: ['entrance'],
    queryFn: () => consoleClient.accounts.readEntrance(),
    staleTime: Infinity,
  });
  return entrance.data;
}

/** Whether the password of somebody of this role opens the console. */
export function usePasswordsOf(): (role: Role) => boolean {
  const entrance = useEntrance();
  return (role) => role === 'owner' || entrance?.passwordSignIn !== 'owners';
}
