import { Button, Checkbox, Collapse, NativeSelect, NumberInput, Stack, TextInput, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { Notice } from '../parts/notice.tsx';
import { readAt, textAt } from './campaign-body.ts';
import { fieldName } from './field-names.ts';
import { sentence, visibleFaults, useCampaignForm, useFault } from './campaign-form.ts';

type FieldProps = {
  /** The path of one member, or of several that get the same value. */
  path: string | string[];
  label: string;
  description?: ReactNode;
  placeholder?: string;
  required?: boolean;
  disabled?: boolean;
};

function useField(path: string | string[]) {
  const { body, write } = useCampaignForm();
  const paths = Array.isArray(path) ? path : [path];
  return {
    value: textAt(body, paths[0]!),
    error: useFault(...paths),
    change: (value: unknown) => write(Object.fromEntries(paths.map((one) => [one, value]))),
  };
}

const withError = (error: string | undefined) => (error === undefined ? {} : { error });
const withText = ({ description, placeholder }: FieldProps) => ({
  ...(description === undefined ? {} : { description }),
  ...(placeholder === undefined ? {} : { placeholder }),
});

export function TextField(props: FieldProps & { type?: string; id?: string }) {
  const { value, error, change } = useField(props.path);
  return (
    <TextInput
      label={props.label}
      {...withText(props)}
      {...withError(error)}
      {...(props.type === undefined ? {} : { type: props.type })}
      {...(props.id === undefined ? {} : { id: props.id })}
      withAsterisk={props.required ?? false}
      aria-required={props.required ?? false}
      disabled={props.disabled ?? false}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

export function AreaField(props: FieldProps & { id?: string }) {
  const { value, error, change } = useField(props.path);
  return (
    <Textarea
      label={props.label}
      {...withText(props)}
      {...withError(error)}
      {...(props.id === undefined ? {} : { id: props.id })}
      withAsterisk={props.required ?? false}
      aria-required={props.required ?? false}
      autosize
      minRows={2}
      maxRows={8}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

type ChoiceFieldProps = FieldProps & {
  data: readonly { value: string; label: string }[];
  /** The label for no choice; absent if a choice is required. */
  none?: string;
  /** Returns the members to write instead of the chosen value alone. */
  onChosen?: (value: string) => Record<string, unknown>;
};

export function ChoiceField({ data, none, onChosen, ...props }: ChoiceFieldProps) {
  const { write } = useCampaignForm();
  const { value, error, change } = useField(props.path);
  return (
    <NativeSelect
      label={props.label}
      {...(props.description === undefined ? {} : { description: props.description })}
      {...withError(error)}
      withAsterisk={props.required ?? false}
      disabled={props.disabled ?? false}
      data={[...(none === undefined ? [] : [{ value: '', label: none }]), ...data]}
      value={value}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        if (onChosen) write(onChosen(chosen));
        else change(chosen === '' ? undefined : chosen);
      }}
    />
  );
}

export function NumberField(props: FieldProps & { min: number; max: number }) {
  const { value, error, change } = useField(props.path);
  return (
    <NumberInput
      label={props.label}
      {...withText(props)}
      {...withError(error)}
      min={props.min}
      max={props.max}
      allowDecimal={false}
      clampBehavior="none"
      disabled={props.disabled ?? false}
      value={value === '' ? '' : Number(value)}
      onChange={(next) => change(next === '' ? undefined : next)}
    />
  );
}

type FlagFieldProps = { path: string; label: string; description?: string; whenAbsent?: boolean; disabled?: boolean };

/** A flag that is sent only if it differs from the default. */
export function FlagField({ path, label, description, whenAbsent = false, disabled = false }: FlagFieldProps) {
  const { body, write } = useCampaignForm();
  const error = useFault(path);
  const value = readAt(body, path);
  const isSet = value === undefined ? whenAbsent : value === true || value === 'true';
  return (
    <Checkbox
      label={label}
      {...(description === undefined ? {} : { description })}
      {...withError(error)}
      disabled={disabled}
      checked={isSet}
      onChange={({ currentTarget: { checked } }) => write({ [path]: checked === whenAbsent ? undefined : checked })}
    />
  );
}

type TimeFieldProps = { path: string; label: string; description?: string; required?: boolean };

const localTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?$/;

/** A local date and time. A value with an offset, from another client, is shown as it was stored. */
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

/** Options that few campaigns need, closed at first. */
export function MoreFields({
  label,
  isOpen = false,
  children,
}: {
  label: string;
  isOpen?: boolean;
  children: ReactNode;
}) {
  const [isShown, more] = useDisclosure(isOpen);
  return (
    <div>
      <Button variant="subtle" size="compact-sm" px={0} onClick={more.toggle} aria-expanded={isShown}>
        {isShown ? '− ' : '+ '}
        {label}
      </Button>
      <Collapse expanded={isShown} transitionDuration={0}>
        <Stack gap="sm" mt="xs">
          {isShown && children}
        </Stack>
      </Collapse>
    </div>
  );
}

/** Faults of a part that has no field in this step. */
export function PartFaults({ paths }: { paths: string[] }) {
  const form = useCampaignForm();
  const faults = visibleFaults(form).filter(({ field }) => paths.includes(field));
  if (faults.length === 0) return null;
  return (
    <Notice tone="error">
      {faults.map(({ field, issue }) => (
        <div key={`${field} ${issue}`}>
          {fieldName(field)}: {sentence(issue)}.
        </div>
      ))}
    </Notice>
  );
}
