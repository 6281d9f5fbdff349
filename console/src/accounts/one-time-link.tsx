import { Alert, Text } from '@mantine/core';
import type { OneTimeLink } from '../api/generated/account.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Time } from '../parts/time.tsx';

/** Shown once: only its hash is kept. */
export function OneTimeLinkAlert({ link, title }: { link: OneTimeLink; title: string }) {
  return (
    <Alert title={title} role="status">
      <Text size="sm" mb="xs">
        Hand it over in person; it is shown this once, works once, and until <Time at={link.expiresAt} />.
      </Text>
      <Copyable text={link.link} label="link" />
    </Alert>
  );
}
