import { Title } from '@mantine/core';
import type { SandboxState } from '../api/generated/sandbox.ts';
import { DataTable } from '../parts/data-table.tsx';
import { platformNames } from '../parts/platform-names.ts';

const counted = {
  ANDROID: `${platformNames.ANDROID} (FCM)`,
  IOS: platformNames.IOS,
  WEB: platformNames.WEB,
  HMS: `${platformNames.ANDROID} (Huawei Push Kit)`,
} as const;
const names = ['ANDROID', 'IOS', 'WEB', 'HMS'] as const;

/** What the simulated providers counted since the start, or since all was emptied. */
export function Counters({ counters }: { counters: SandboxState['counters'] }) {
  const column = (title: string, of: 'received' | 'accepted' | 'refused') => ({
    key: of,
    title,
    isNumber: true,
    cell: (name: keyof typeof counted) => (counters[name]?.[of] ?? 0).toLocaleString('en'),
  });
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Provider counters
      </Title>
      <DataTable
        label="Provider counters"
        minWidth={340}
        rows={names}
        keyOf={(name) => name}
        columns={[
          { key: 'platform', title: 'Platform', cell: (name) => counted[name] },
          column('Requests', 'received'),
          column('Accepted', 'accepted'),
          column('Refused', 'refused'),
        ]}
      />
    </section>
  );
}
