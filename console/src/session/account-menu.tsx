import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';

export function AccountMenu() {
  // A new page forgets everything that this one has read.
  const signOut = useMutation({ mutationFn: () => consoleClient.signOut(), onSettled: () => location.reload() });
  return (
    <Button variant="default" size="compact-sm" loading={signOut.isPending} onClick={() => signOut.mutate()}>
      Sign out
    </Button>
  );
}
