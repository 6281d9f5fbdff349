import { Alert, Stack, Text } from '@mantine/core';
import type { CreatedKey } from '../api/generated/keys.ts';
import { Copyable, CopyableBlock } from '../parts/copyable.tsx';
import { keyKinds } from './key-kinds.ts';

/** The only moment at which a secret can be seen. */
export function CreatedKeyAlert({ made: { key, secret, curl } }: { made: CreatedKey }) {
  return (
    <Alert title={`${keyKinds[key.kind].name} key “${key.name}”`} role="status">
      <Stack gap="xs">
        <Text size="sm">It is shown only once. Copy it before you leave this screen.</Text>
        <Copyable text={secret} label="secret" />
        <Text size="sm">A call that works with it:</Text>
        <CopyableBlock text={curl} label="curl command" />
      </Stack>
    </Alert>
  );
}
