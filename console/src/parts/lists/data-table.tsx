import { Table } from '@mantine/core';
import { isValidElement } from 'react';
import type { ReactNode } from 'react';
import styles from './data-table.module.css';

type Column<Row> = {
  title: ReactNode;
  /** The name of the column if its title is not a text. */
  key: string;
  isNumber?: boolean;
  cell: (row: Row) => ReactNode;
};

type DataTableProps<Row> = {
  /** The accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The keys of rows that have just appeared, which are marked for a moment. */
  arrived?: ReadonlySet<string>;
  /** Below this width in pixels the table scrolls horizontally. */
  minWidth?: number;
};

/** Tables that are no wider stay tables on a phone. */
const phoneWidth = 350;

/**
 * A table. Where it is wider than its container it scrolls, also with the keyboard; on a phone each row of a wide table is a block with
 * the titles next to the values.
 */
export function DataTable<Row>({ label, columns, rows, keyOf, arrived, minWidth = 640 }: DataTableProps<Row>) {
  return (
    <Table.ScrollContainer
      className={styles.card!}
      data-wide={minWidth > phoneWidth}
      type="native"
      minWidth={minWidth}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} scope="col" data-number={column.isNumber ?? false}>
                {column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)} {...(arrived?.has(keyOf(row)) ? { 'data-arrived': true } : {})}>
              {columns.map((column) => (
                <Table.Td key={column.key} data-number={column.isNumber ?? false} data-title={phoneTitle(column)}>
                  {column.isNumber ? <Figure value={column.cell(row)} /> : column.cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Dims zeros, so that other values are easier to see. */
function Figure({ value }: { value: ReactNode }) {
  return value === 0 || value === '0' ? <span className={styles.zero}>0</span> : value;
}

/** The text of a title. A title that is not a text explains its `word`. */
function phoneTitle<Row>({ title }: Column<Row>): string {
  const text: unknown = isValidElement<{ word?: unknown }>(title) ? title.props.word : title;
  return typeof text === 'string' ? text : '';
}
