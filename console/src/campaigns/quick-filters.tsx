import { Button, Group } from '@mantine/core';
import { useSession } from '../session/use-session.ts';
import type { CampaignFilters } from './campaign-filters.ts';

type QuickFiltersProps = { filters: CampaignFilters; onChosen: (filters: CampaignFilters) => void };
type Quick = { name: string; of: Partial<CampaignFilters> };

const dayMilliseconds = 86_400_000;

/** What is asked for most, a click each, and a click back. */
export function QuickFilters({ filters, onChosen }: QuickFiltersProps) {
  const { account } = useSession();
  const weekAgo = new Date(Date.now() - 6 * dayMilliseconds).toISOString().slice(0, 10);
  const quick: Quick[] = [
    { name: 'Recurring', of: { type: ['PERIODIC'] } },
    { name: 'Created by me', of: { creator: [account.name] } },
    { name: 'Last 7 days', of: { from: weekAgo } },
  ];
  return (
    <Group gap={6} role="group" aria-label="Quick filters">
      {quick.map(({ name, of }) => {
        const keys = Object.keys(of) as (keyof CampaignFilters)[];
        const isOn = keys.every((key) => JSON.stringify(filters[key]) === JSON.stringify(of[key]));
        const { page: _page, ...others } = filters;
        const without = Object.fromEntries(Object.entries(others).filter(([key]) => !(key in of)));
        return (
          <Button
            key={name}
            size="compact-sm"
            radius="xl"
            variant={isOn ? 'light' : 'default'}
            aria-pressed={isOn}
            onClick={() => onChosen(isOn ? without : { ...others, ...of })}
          >
            {name}
          </Button>
        );
      })}
    </Group>
  );
}
