import { Group, Loader, Text } from '@mantine/core';
import type { ConsoleSegment } from '../api/generated/segment-answers.ts';
import { formatBytes } from '../parts/text/format-bytes.ts';

/** The number of lines processed. The total is unknown until the end, so there is no progress bar. */
export function FillProgress({ progress }: { progress: NonNullable<ConsoleSegment['progress']> }) {
  const { kind, state, attempts, bytesRead, valuesFound, waiting } = progress;
  return (
    <Group gap="xs" wrap="nowrap" role="status">
      <Loader size="xs" aria-hidden />
      <Text size="xs">
        {kind.toLowerCase()} {state.toLowerCase()}: {valuesFound.toLocaleString('en')} values in{' '}
        {formatBytes(bytesRead)}
        {attempts > 1 && `, attempt ${attempts}`}
        {waiting > 0 && `, ${waiting} more waiting`}
      </Text>
    </Group>
  );
}
