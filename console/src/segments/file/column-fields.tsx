import { Badge, Card, Checkbox, Group, Radio, Stack, Table, Text, Title } from '@mantine/core';
import { MatchCheck } from './match-check.tsx';
import type { ChosenIdentifier } from './identifier-fields.tsx';
import type { Suggested } from './suggest-column.ts';
import type { TableHead } from './table-file.ts';
import styles from './column-fields.module.css';

export type ChosenColumn = {
  index: number;
  hasHeader: boolean;
  /** What each column is taken for, if anything says it. */
  suggestions: (Suggested | undefined)[];
};

type ColumnFieldsProps = {
  head: TableHead;
  chosen: ChosenColumn;
  identifier: ChosenIdentifier;
  onChanged: (chosen: ChosenColumn) => void;
};

const shownRows = 6;
const shownColumns = 12;

/** The first rows of the file, and which of its columns names people. */
export function ColumnFields({ head, chosen, identifier, onChanged }: ColumnFieldsProps) {
  const below = head.rows.slice(chosen.hasHeader ? 1 : 0);
  const columns = Array.from({ length: Math.min(head.columns, shownColumns) }, (_, index) => index);
  const nameOf = (index: number) => (chosen.hasHeader && head.rows[0]?.[index]?.trim()) || `Column ${index + 1}`;
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {head.columns === 1 ? 'The values' : 'Which column names people?'}
          </Title>
          <Checkbox
            label="The first row is a header"
            checked={chosen.hasHeader}
            onChange={({ currentTarget: { checked } }) => onChanged({ ...chosen, hasHeader: checked })}
          />
        </Group>
        {head.encoding === 'windows-1252' && (
          <Text size="sm">It is not UTF-8 and is read as Windows-1252. Look whether its letters are right.</Text>
        )}
        <Table.ScrollContainer
          type="native"
          minWidth={120 * columns.length}
          tabIndex={0}
          role="region"
          aria-label="First rows"
        >
          <Table withTableBorder>
            <Table.Thead>
              <Table.Tr>
                {columns.map((index) => (
                  <Table.Th key={index} scope="col" className={index === chosen.index ? styles.chosen : undefined}>
                    <Group gap={6} wrap="nowrap">
                      {head.columns > 1 ? (
                        <Radio
                          size="xs"
                          name="column"
                          label={nameOf(index)}
                          checked={index === chosen.index}
                          onChange={() => onChanged({ ...chosen, index })}
                        />
                      ) : (
                        nameOf(index)
                      )}
                      {chosen.suggestions[index] !== undefined && (
                        <Badge size="sm">{chosen.suggestions[index].attribute}</Badge>
                      )}
                    </Group>
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {below.slice(0, shownRows).map((row, place) => (
                // Rows of a file have no names.
                <Table.Tr key={place}>
                  {columns.map((index) => (
                    <Table.Td key={index} className={index === chosen.index ? styles.chosen : undefined}>
                      <Text size="sm" lineClamp={1} maw={260}>
                        {row[index] ?? ''}
                      </Text>
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
        {head.columns > shownColumns && (
          <Text size="sm">{`Shown are the first ${shownColumns} of ${head.columns} columns.`}</Text>
        )}
        <MatchCheck values={below.map((row) => (row[chosen.index] ?? '').trim())} identifier={identifier} />
      </Stack>
    </Card>
  );
}
