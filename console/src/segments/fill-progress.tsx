import { Group, Loader, Text } from '@mantine/core';
import type { ConsoleSegment } from '../api/generated/segment.ts';

/** How far the file is that is being worked. Its length is not known before its end, so there is no bar to fill. */
export function FillProgress({ progress }: { progress: NonNullable<ConsoleSegment['progress']> }) {
  const { kind, state, attempts, bytesRead, valuesFound, waiting } = progress;
  return (
    <Group gap="xs" wrap="nowrap" role="status">
      <Loader size="xs" aria-hidden />
      <Text size="xs">
        {kind.toLowerCase()} {state.toLowerCase()}: {valuesFound.toLocaleString('en')} values in {megabytes(bytesRead)}
        {attempts > 1 && `, attempt ${attempts}`}
        {waiting > 0 && `, ${waiting} more waiting`}
      </Text>
    </Group>
  );
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
