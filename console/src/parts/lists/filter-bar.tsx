import { ActionIcon, Badge, Box, Button, Card, Group, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconAdjustmentsHorizontal, IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import styles from './list-tools.module.css';
import { formatDay } from '../text/format-time.ts';

/** An active filter with the text of its chip: "Type: PERIODIC". */
export type ChosenFilter = { name: string; value: string; onRemoved: () => void };

type FilterBarProps = {
  label: string;
  /** The field that is always visible. */
  field: ReactNode;
  /** The other fields. A button shows them, and they are submitted even while hidden. */
  children: ReactNode;
  chosen: readonly ChosenFilter[];
  onSearched: (fields: FormData) => void;
  onCleared: () => void;
};

/** The filters of a list in one line, which keeps the list at the top of the screen. */
export function FilterBar({ label, field, children, chosen, onSearched, onCleared }: FilterBarProps) {
  const [isOpen, filters] = useDisclosure(false);
  return (
    <form
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSearched(new FormData(event.currentTarget));
      }}
    >
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <div style={{ flex: '1 1 220px', maxWidth: 420, minWidth: 0 }}>{field}</div>
        <Button type="submit" style={{ flex: 'none' }}>
          Search
        </Button>
        <Button
          variant="default"
          px={{ base: 'xs', xs: 'md' }}
          style={{ flex: 'none' }}
          aria-label="Filters"
          aria-expanded={isOpen}
          onClick={filters.toggle}
        >
          <IconAdjustmentsHorizontal size={16} stroke={1.6} aria-hidden />
          <Box component="span" visibleFrom="xs" ml={8}>
            Filters
          </Box>
        </Button>
      </Group>
      <Card withBorder mt="sm" display={isOpen ? 'block' : 'none'}>
        {children}
      </Card>
      {chosen.length > 0 && (
        <Group gap={6} mt="sm" role="group" aria-label="Chosen filters">
          {chosen.map((filter) => (
            <Chip key={filter.name} filter={filter} />
          ))}
          <Button variant="subtle" size="compact-sm" onClick={onCleared}>
            Clear
          </Button>
        </Group>
      )}
    </form>
  );
}

function Chip({ filter: { name, value, onRemoved } }: { filter: ChosenFilter }) {
  return (
    <Badge
      size="lg"
      pr={3}
      rightSection={
        <ActionIcon variant="subtle" color="gray" size={20} aria-label={`Remove ${name}`} onClick={onRemoved}>
          <IconX size={12} aria-hidden />
        </ActionIcon>
      }
    >
      {name}: {value}
    </Badge>
  );
}

type TimeFilterProps = { name: string; label: string; value: string | undefined };

/** A time limit. The address holds an instant, the field its minute. */
export function TimeFilter({ name, label, value }: TimeFilterProps) {
  return <TextInput name={name} type="datetime-local" label={label} defaultValue={value?.slice(0, 16) ?? ''} />;
}

/** Formats an instant for a chip. */
export function timeFilterText(value: string): string {
  return `${formatDay(value.slice(0, 10))}, ${value.slice(11, 16)}`;
}

type ReadFields<Name extends string> = { names: readonly Name[]; times?: readonly Name[] };

/** Converts form values to search parameters. Empty fields are left out. */
export function readFilterFields<Name extends string>(
  form: FormData,
  { names, times = [] }: ReadFields<Name>,
): Partial<Record<Name, string>> {
  const chosen = names.flatMap((name) => {
    const text = String(form.get(name) ?? '').trim();
    return text === '' ? [] : [[name, times.includes(name) ? `${text}:00.000Z` : text]];
  });
  return Object.fromEntries(chosen) as Partial<Record<Name, string>>;
}

/** The filters of a list and its tools. A form cannot contain another form, so the tools are placed over it. */
export function ListTools({ filters, children }: { filters: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.list}>
      {filters}
      <Group justify="flex-end" gap="xs" className={styles.tools!}>
        {children}
      </Group>
    </div>
  );
}
