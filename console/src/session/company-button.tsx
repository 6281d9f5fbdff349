import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';

/** Leaves for the company's sign-in page, which sends the browser back. */
export function CompanyButton({ name }: { name: string }) {
  const begin = useMutation({
    mutationFn: () => consoleClient.accounts.beginCompanySignIn(),
    onSuccess: (location) => window.location.assign(location),
  });
  return (
    <Stack gap="xs">
      {begin.error !== null && <Failure error={begin.error} />}
      <Button loading={begin.isPending || begin.isSuccess} onClick={() => begin.mutate()}>
        Sign in with {name}
      </Button>
    </Stack>
  );
}
