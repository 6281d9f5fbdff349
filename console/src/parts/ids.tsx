import { Group, Text } from '@mantine/core';
import { Copyable } from './copyable.tsx';

/** What programs call a thing by. Last on its page: people know it by its name. */
export function Ids({ ids }: { ids: readonly (readonly [name: string, id: string])[] }) {
  return (
    <Group gap="xl" component="footer" {...{ 'aria-label': 'Ids' }}>
      {ids.map(([name, id]) => (
        <div key={name}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          <Copyable text={id} label={name.toLowerCase()} />
        </div>
      ))}
    </Group>
  );
}
