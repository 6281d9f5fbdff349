import { Alert, Text } from '@mantine/core';
import type { OneTimeLink } from '../api/generated/account.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Time } from '../parts/time.tsx';

/** Shown once: only its hash is kept. */
export function OneTimeLinkAlert({ link, title }: { link: OneTimeLink; title: string }) {
  return (
    <Alert title={title} role="status">
      <Text size="sm" mb="xs">
        Pass it on privately. It is shown only once, works once, and expires on <Time at={link.expiresAt} />.
      </Text>
      <Copyable text={link.link} label="link" />
    </Alert>
  );
}
