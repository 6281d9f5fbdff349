import { Group, Loader, Text } from '@mantine/core';
import type { ConsoleSegment } from '../api/generated/segment-answers.ts';
import { formatBytes } from '../parts/text/format-bytes.ts';

/** How far the file is that is being worked. Its length is not known before its end, so there is no bar to fill. */
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
