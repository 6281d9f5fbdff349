import { Alert, Text } from '@mantine/core';
import type { OneTimeLink } from '../api/generated/accounts.ts';
import { Copyable } from '../parts/copyable.tsx';
import { Time } from '../parts/time.tsx';

/** Shown once: only its hash is kept. */
export function OneTimeLinkAlert({ link, title }: { link: OneTimeLink; title: string }) {
  // A path where no public URL is set: this page's own origin is known to be right, the Host header of a request is not.
  const address = new URL(link.link, location.origin).href;
  return (
    <Alert title={title} role="status">
      <Text size="sm" mb="xs">
        Pass it on privately. It is shown only once, works once, and expires on <Time at={link.expiresAt} />.
      </Text>
      <Copyable text={address} label="link" />
    </Alert>
  );
}
