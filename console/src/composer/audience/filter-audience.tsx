import { Stack, Text } from '@mantine/core';
import type { CampaignFault } from '../../api/generated/composer.ts';
import { FilterEditor } from '../../segments/filter/filter-editor.tsx';
import { placeOf } from '../../segments/filter/filter-tree.ts';
import type { FilterFault, BuiltTrees } from '../../segments/filter/filter-tree.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { ofFilters } from './audience.ts';

/** The builder of filter segments, for the filters of one campaign. */
export function FilterAudience({ trees }: { trees: BuiltTrees }) {
  const { check, write, seen } = useCampaignForm();
  // Missing values are shown after the user has left the step. The count shows them earlier.
  const fault = seen.has('audience') ? (check?.faults ?? []).map(filterFault).find(Boolean) : undefined;
  return (
    <Stack gap="md">
      <FilterEditor trees={trees} fault={fault} onChanged={(next) => write(ofFilters(next))} />
      {check?.audienceText && (
        <div>
          <Text size="xs" c="dimmed" fw={500}>
            In words
          </Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {check.audienceText}
          </Text>
        </div>
      )}
    </Stack>
  );
}

/** Finds the faults of filters by their path in the message: `is not a usable filter: filters[1].value is required`. */
export function filterFault({ field, issue }: CampaignFault): FilterFault | undefined {
  const tree = /^segmentation_details\.(included_filters|excluded_filters)$/.exec(field)?.[1];
  const reason = /^is not a usable filter: (.*)$/s.exec(issue)?.[1];
  if (tree === undefined || reason === undefined) return undefined;
  return { field: tree as NonNullable<FilterFault['field']>, ...placeOf(reason) };
}
