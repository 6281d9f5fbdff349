import { Box, Text } from '@mantine/core';
import type { ConnectedCredential } from '../api/generated/credentials.ts';
import { Ago } from '../parts/ago.tsx';

const looks = {
  ACCEPTED: ['teal', 'The provider accepts it'],
  REFUSED: ['red', 'The provider refuses it'],
  UNKNOWN: ['orange', 'The provider could not be checked'],
} as const;

/** What the provider said when it was last asked, and what to do. */
export function CheckResult({ check }: { check: NonNullable<ConnectedCredential['check']> }) {
  const [colour, title] = looks[check.verdict];
  return (
    <Box role="status" pl="sm" style={{ borderLeft: `4px solid var(--mantine-color-${colour}-7)` }}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {check.words}
      </Text>
      {check.advice !== 'Nothing to do.' && <Text size="sm">{check.advice}</Text>}
      <Text size="xs" component="div" mt={4}>
        Asked <Ago at={check.at} />
      </Text>
    </Box>
  );
}
