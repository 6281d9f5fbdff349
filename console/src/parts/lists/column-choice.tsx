import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';

type ColumnChoiceProps<Column extends string> = {
  of: ColumnSet<Column>;
  /** The columns in the address. */
  asked: readonly string[] | undefined;
  /** Undefined for the default columns. */
  onChosen: (columns: string[] | undefined) => void;
};

/** Chooses the columns of a list. If the user removes all, the default columns return. */
export function ColumnChoice<Column extends string>({ of, asked, onChosen }: ColumnChoiceProps<Column>) {
  const columns = shownColumns(asked, of);
  const all = Object.keys(of.names) as Column[];
  const choose = (column: Column, isShown: boolean) => {
    const next = all.filter((one) => (one === column ? isShown : columns.includes(one)));
    onChosen(next.length === 0 || next.join() === of.usual.join() ? undefined : next);
  };
  return (
    <Popover position="bottom-end" withinPortal={false} trapFocus>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<IconColumns3 size={14} stroke={1.6} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" role="group" aria-label="Columns shown">
          {all.map((column) => (
            <Checkbox
              key={column}
              size="xs"
              label={of.names[column]}
              checked={columns.includes(column)}
              onChange={({ currentTarget }) => choose(column, currentTarget.checked)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

export type ColumnSet<Column extends string> = {
  /** All columns of a list, in their order, with their titles. */
  names: Record<Column, string>;
  usual: readonly Column[];
};

/** Returns the columns in the address that exist in the list; the default columns if there are none. */
export function shownColumns<Column extends string>(
  asked: readonly string[] | undefined,
  { names, usual }: ColumnSet<Column>,
): readonly Column[] {
  const columns = (Object.keys(names) as Column[]).filter((column) => asked?.includes(column));
  return columns.length === 0 ? usual : columns;
}
