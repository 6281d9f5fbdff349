import { Select } from '@mantine/core';
import type { SelectProps } from '@mantine/core';

type ZoneSelectProps = Pick<SelectProps, 'label' | 'description' | 'error' | 'name' | 'disabled' | 'maw'> & {
  value?: string;
  defaultValue?: string;
  /** What stands for no zone at all; absent: there is always one. */
  none?: string;
  onChange?: (zone: string | undefined) => void;
};

const maxShown = 60;

/** A time zone (IANA), found by any part of its name: "york" finds America/New_York. */
export function ZoneSelect({ value, defaultValue, none, onChange, ...props }: ZoneSelectProps) {
  const present = value ?? defaultValue ?? '';
  // Zones of the browser, and what is chosen already, should the browser not know it.
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
