import { Title } from '@mantine/core';
import type { SandboxState } from '../api/generated/sandbox.ts';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';

const platforms = ['ANDROID', 'IOS', 'WEB'] as const;

/** What the simulated providers counted since the start, or since all was emptied. */
export function Counters({ counters }: { counters: SandboxState['counters'] }) {
  const column = (title: string, of: 'received' | 'accepted' | 'refused') => ({
    key: of,
    title,
    isNumber: true,
    cell: (platform: (typeof platforms)[number]) => (counters[platform]?.[of] ?? 0).toLocaleString('en'),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        What the providers counted
      </Title>
      <DataTable
        label="What the providers counted"
        rows={platforms}
        keyOf={(platform) => platform}
        columns={[
          { key: 'platform', title: 'Platform', cell: (platform) => platformNames[platform] },
          column('Requests', 'received'),
          column('Accepted', 'accepted'),
          column('Refused', 'refused'),
        ]}
      />
    </section>
  );
}
