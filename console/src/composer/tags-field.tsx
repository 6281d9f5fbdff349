import { TagsInput } from '@mantine/core';
import { listAt } from './body-path.ts';
import { useCampaignForm, useFault } from './campaign-form.ts';

const path = 'basic_details.tags';

export function TagsField() {
  const { body, write } = useCampaignForm();
  const error = useFault(path);
  return (
    <TagsInput
      label="Tags"
      description="What campaigns are found by; Enter after each"
      {...(error === undefined ? {} : { error })}
      value={listAt<string>(body, path)}
      onChange={(tags) => write({ [path]: tags.length === 0 ? undefined : tags })}
      acceptValueOnBlur
      splitChars={[',']}
    />
  );
}
