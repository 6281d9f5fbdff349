import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './facts-table.module.css';

export type Fact = [name: string, value: ReactNode];

/** The attributes of an object, one per row. */
export function FactsTable({ facts }: { facts: readonly Fact[] }) {
  return (
    <Table className={styles.facts!}>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row">{name}</Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
