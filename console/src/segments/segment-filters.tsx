import { Button, Group, NativeSelect } from '@mantine/core';
import type { ConsoleSegment } from '../api/generated/segment-answers.ts';
import { ColumnChoice } from '../parts/column-choice.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { SavedViews } from '../parts/saved-views.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { segmentColumns } from './segment-columns.ts';
import { readSegmentListSearch, segmentOrders } from './segment-search.ts';
import type { SegmentListSearch, SegmentOrder } from './segment-search.ts';

type SegmentFiltersProps = { search: SegmentListSearch; onChosen: (search: SegmentListSearch) => void };

const states = [
  ['active', 'Active'],
  ['archived', 'Archived'],
] as const;

/** What narrows the list, a click each and a click back, and its order. */
export function SegmentFilters({ search, onChosen }: SegmentFiltersProps) {
  const { state: chosen, ...otherStates } = search;
  const { order, ...otherOrders } = search;
  const { columns, ...others } = search;
  const { id: workspaceId } = useWorkspace();
  return (
    <Group justify="space-between" gap="xs">
      <Group gap={6} role="group" aria-label="Quick filters">
        {states.map(([state, name]) => (
          <Button
            key={state}
            size="compact-sm"
            radius="xl"
            variant={state === chosen ? 'light' : 'default'}
            aria-pressed={state === chosen}
            onClick={() => onChosen(state === chosen ? otherStates : { ...otherStates, state })}
          >
            {name}
          </Button>
        ))}
      </Group>
      <Group gap="xs">
        <NativeSelect
          aria-label="Order"
          size="xs"
          value={order ?? ''}
          data={[
            { value: '', label: 'Newest first' },
            ...Object.entries(segmentOrders).map(([value, label]) => ({ value, label })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            onChosen(value === '' ? otherOrders : { ...otherOrders, order: value as SegmentOrder })
          }
        />
        <ColumnChoice
          of={segmentColumns}
          asked={columns}
          onChosen={(next) => onChosen(next ? { ...others, columns: next } : others)}
        />
        <SavedViews
          screen="segments"
          search={search}
          linkOf={({ search: saved, ...link }) => (
            <RouteLink
              to="/w/$workspaceId/segments"
              params={{ workspaceId }}
              search={readSegmentListSearch(saved)}
              activeProps={{}}
              {...link}
            />
          )}
        />
      </Group>
    </Group>
  );
}

/** Those that are asked for, in the order that is asked for; they come newest first. */
export function chosenSegments(segments: ConsoleSegment[], search: SegmentListSearch): ConsoleSegment[] {
  const { name = '', state, order } = search;
  const found = segments.filter(
    (segment) =>
      segment.name.toLowerCase().includes(name.toLowerCase()) &&
      (state === undefined || (segment.state === 'ARCHIVED') === (state === 'archived')),
  );
  switch (order) {
    case 'name':
      return found.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
    case 'largest':
      return found.toSorted((one, other) => (other.userCount ?? -1) - (one.userCount ?? -1));
    case 'oldest':
      return found.toReversed();
    case undefined:
      return found;
    default:
      return order satisfies never;
  }
}
