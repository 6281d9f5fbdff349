import { Group, Text } from '@mantine/core';

/** Bells of a carillon on their beam, and the name. The picture is that of the browser's tab. */
export function Mark() {
  return (
    <Group gap={8} wrap="nowrap">
      <img src={`${import.meta.env.BASE_URL}favicon.svg`} width={26} height={26} alt="" />
      <Text fw={600} fz={16} style={{ letterSpacing: '-0.01em' }} visibleFrom="xs">
        Carillon
      </Text>
    </Group>
  );
}
