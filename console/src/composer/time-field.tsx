import { TextInput } from '@mantine/core';
import { textAt } from './body-path.ts';
import { useCampaignForm, useFault } from './campaign-form.ts';

type TimeFieldProps = { path: string; label: string; description?: string; required?: boolean };

const localTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?$/;

/** A local day and time; what another program wrote with an offset is shown as it was written. */
export function TimeField({ path, label, description, required = false }: TimeFieldProps) {
  const { body, write } = useCampaignForm();
  const error = useFault(path);
  const value = textAt(body, path);
  const isLocal = value === '' || localTime.test(value);
  return (
    <TextInput
      type={isLocal ? 'datetime-local' : 'text'}
      label={label}
      {...(description === undefined ? {} : { description })}
      {...(error === undefined ? {} : { error })}
      withAsterisk={required}
      aria-required={required}
      value={isLocal ? value.replace(' ', 'T') : value}
      onChange={(event) => write({ [path]: event.currentTarget.value === '' ? undefined : event.currentTarget.value })}
    />
  );
}
