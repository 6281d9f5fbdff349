import { Autocomplete, Group, NativeSelect } from '@mantine/core';
import { useKnownAttributes } from '../filter/attributes.ts';
import { identifiers, typeOf } from './suggest-column.ts';

export type ChosenIdentifier = { attribute: string; type: 'string' | 'double' };

type IdentifierFieldsProps = { chosen: ChosenIdentifier; onChanged: (chosen: ChosenIdentifier) => void };

/** What the values are: by which attribute they name people. */
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
