import { Box, Group } from '@mantine/core';
import { useId } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { AttributePicker } from './attribute-picker.tsx';
import { textAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';
import { AreaField, TextField } from './form-fields.tsx';

type TemplateFieldProps = {
  path: string | string[];
  label: string;
  description?: ReactNode;
  placeholder?: string;
  required?: boolean;
  isLong?: boolean;
};

/** A text that may be a template: what people are called, or anything else that is known of them, is put in by name. */
export function TemplateField({ isLong = false, ...props }: TemplateFieldProps) {
  const { body, write } = useCampaignForm();
  const id = useId();
  const paths = Array.isArray(props.path) ? props.path : [props.path];
  const insert = (marker: string) => {
    const input = document.getElementById(id) as HTMLInputElement | HTMLTextAreaElement | null;
    const text = textAt(body, paths[0]!);
    const from = input?.selectionStart ?? text.length;
    const until = input?.selectionEnd ?? from;
    const next = text.slice(0, from) + marker + text.slice(until);
    write(Object.fromEntries(paths.map((path) => [path, next])));
    // Behind what was put in, so that writing goes on there.
    requestAnimationFrame(() => {
      input?.focus();
      input?.setSelectionRange(from + marker.length, from + marker.length);
    });
  };
  const Field = isLong ? AreaField : TextField;
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <Box style={{ flexGrow: 1, minWidth: 0 }}>
        <Field {...props} id={id} />
      </Box>
      <AttributePicker label={props.label} onPicked={insert} />
    </Group>
  );
}
