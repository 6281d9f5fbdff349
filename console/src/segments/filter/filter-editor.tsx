import { Checkbox, Stack } from '@mantine/core';
import { FilterGroupFields } from './filter-group.tsx';
import { newGroup } from './filter-tree.ts';
import type { BuiltTrees } from './filter-tree.ts';
import type { FilterFault } from './filter-fault.ts';

type FilterEditorProps = {
  trees: BuiltTrees;
  /** Told at its condition; undefined: nothing is wrong, or it is not to be told yet. */
  fault: FilterFault | undefined;
  onChanged: (trees: BuiltTrees) => void;
};

/** Who is in, and who of them is left out. */
export function FilterEditor({ trees, fault, onChanged }: FilterEditorProps) {
  const { included, excluded } = trees;
  const faultsOf = (field: FilterFault['field']) =>
    fault !== undefined && fault.field === field ? { [fault.path]: fault.words } : {};
  return (
    <Stack gap="lg">
      <FilterGroupFields
        group={included}
        lead="People who match"
        noun="condition"
        place=""
        path=""
        faults={faultsOf('included_filters')}
        onChanged={(next) => onChanged({ ...trees, included: next })}
      />
      <Checkbox
        label="Leave some of them out"
        checked={excluded !== undefined}
        onChange={({ currentTarget: { checked } }) =>
          onChanged({ ...trees, excluded: checked ? newGroup() : undefined })
        }
      />
      {excluded !== undefined && (
        <FilterGroupFields
          group={excluded}
          lead="Except people who match"
          noun="exception"
          place=""
          path=""
          faults={faultsOf('excluded_filters')}
          onChanged={(next) => onChanged({ ...trees, excluded: next })}
        />
      )}
    </Stack>
  );
}
