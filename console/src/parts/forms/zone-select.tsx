import { Select } from '@mantine/core';
import type { SelectProps } from '@mantine/core';

type ZoneSelectProps = Pick<SelectProps, 'label' | 'description' | 'error' | 'name' | 'disabled' | 'maw'> & {
  value?: string;
  defaultValue?: string;
  /** The label for no zone; absent if a zone is required. */
  none?: string;
  onChange?: (zone: string | undefined) => void;
};

const maxShown = 60;

/** Chooses an IANA time zone by any part of its name: "york" finds America/New_York. */
export function ZoneSelect({ value, defaultValue, none, onChange, ...props }: ZoneSelectProps) {
  const present = value ?? defaultValue ?? '';
  // The browser's zones, and the current value if the browser does not know it.
  const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), ...(present === '' ? [] : [present])])];
  return (
    <Select
      {...props}
      searchable
      limit={maxShown}
      nothingFoundMessage="No matching time zone"
      {...(none === undefined ? { allowDeselect: false } : { placeholder: none, clearable: true })}
      {...(onChange === undefined ? { defaultValue: present } : { value: value === '' ? null : (value ?? null) })}
      data={zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }))}
      onChange={(zone) => onChange?.(zone ?? undefined)}
    />
  );
}
