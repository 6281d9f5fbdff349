import {
  Badge,
  Card,
  Checkbox,
  Group,
  Radio,
  Stack,
  Table,
  Text,
  Title,
  Autocomplete,
  NativeSelect,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { consoleClient } from '../../console.ts';
import { failureText } from '../../parts/failure.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { useKnownAttributes } from '../filter/attributes.ts';
import styles from './column-fields.module.css';
import { identifiers, typeOf } from './suggest-column.ts';
import type { Suggested } from './suggest-column.ts';
import type { TableHead } from './table-file.ts';

export type ChosenColumn = {
  index: number;
  hasHeader: boolean;
  /** The guess for each column, if there is one. */
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

/** The first rows of the file, and the choice of the column that identifies users. */
export function ColumnFields({ head, chosen, identifier, onChanged }: ColumnFieldsProps) {
  const below = head.rows.slice(chosen.hasHeader ? 1 : 0);
  const columns = Array.from({ length: Math.min(head.columns, shownColumns) }, (_, index) => index);
  const nameOf = (index: number) => (chosen.hasHeader && head.rows[0]?.[index]?.trim()) || `Column ${index + 1}`;
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {head.columns === 1 ? 'The values' : 'Which column identifies people?'}
          </Title>
          <Checkbox
            label="The first row is a header"
            checked={chosen.hasHeader}
            onChange={({ currentTarget: { checked } }) => onChanged({ ...chosen, hasHeader: checked })}
          />
        </Group>
        {head.encoding === 'windows-1252' && (
          <Text size="sm">It is not UTF-8 and is read as Windows-1252. Check that its letters are correct.</Text>
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
                // Rows have no stable key.
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

export type ChosenIdentifier = { attribute: string; type: 'string' | 'double' };

type IdentifierFieldsProps = { chosen: ChosenIdentifier; onChanged: (chosen: ChosenIdentifier) => void };

/** The attribute that identifies users. */
export function IdentifierFields({ chosen, onChanged }: IdentifierFieldsProps) {
  const known = useKnownAttributes();
  const names = [...new Set([...Object.keys(identifiers), ...known.map(({ name }) => name)])];
  return (
    <Group align="flex-start">
      <Autocomplete
        label="The values are"
        description={identifiers[chosen.attribute] ?? 'An attribute, uid or a name of your own'}
        required
        maxLength={256}
        miw={280}
        value={chosen.attribute}
        data={names}
        renderOption={({ option }) =>
          identifiers[option.value] === undefined ? option.value : `${identifiers[option.value]} (${option.value})`
        }
        limit={50}
        onChange={(attribute) => onChanged({ attribute, type: typeOf(attribute, known) })}
      />
      <NativeSelect
        label="Type"
        description="As people have it"
        w={160}
        value={chosen.type}
        data={[
          { value: 'string', label: 'Text' },
          { value: 'double', label: 'Number' },
        ]}
        onChange={({ currentTarget: { value } }) => onChanged({ ...chosen, type: value as 'string' | 'double' })}
      />
    </Group>
  );
}

const maxChecked = 500;
const maxShown = 3;
const settleMilliseconds = 400;

/**
 * Checks whether the first values match users, before the file is sent. A wrong column or attribute is visible at once.
 */
function MatchCheck({ values, identifier }: { values: string[]; identifier: ChosenIdentifier }) {
  const { id: workspaceId } = useWorkspace();
  const mayRead = useMay('people.read');
  const checked = values.filter((value) => value !== '').slice(0, maxChecked);
  const asked = JSON.stringify({
    attributeName: identifier.attribute,
    attributeType: identifier.type,
    values: checked,
  });
  const [settled] = useDebouncedValue(asked, settleMilliseconds);
  const check = useQuery({
    queryKey: ['unmatched', workspaceId, settled],
    queryFn: ({ signal }) =>
      consoleClient.segments.findUnmatched({
        workspaceId,
        ...(JSON.parse(settled) as { attributeName: string; attributeType: 'string' | 'double'; values: string[] }),
        signal,
      }),
    enabled: mayRead && identifier.attribute !== '' && checked.length > 0 && asked === settled,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  if (check.error !== null) return <Text size="sm">{failureText(check.error)}</Text>;
  if (check.data === undefined || identifier.attribute === '') return null;
  const missing = check.data.map((place) => checked[place]!);
  const examples = [...new Set(missing)].slice(0, maxShown).map((value) => `“${value}”`);
  return (
    <Text size="sm" role="status" style={{ opacity: asked === settled ? 1 : 0.55, overflowWrap: 'anywhere' }}>
      {`Of the first ${checked.length.toLocaleString('en')} values, ${(checked.length - missing.length).toLocaleString('en')} match a user by ${identifier.attribute}.`}
      {missing.length > 0 && ` Not found, for example: ${examples.join(', ')}.`}
    </Text>
  );
}
