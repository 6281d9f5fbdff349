import type { ReactNode } from 'react';
import { Stack } from '@mantine/core';
import { platformsOf, textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { TemplateField } from '../content/template-field.tsx';
import { PictureTools } from './picture-tools.tsx';

type PictureFieldProps = { path: string; label: string; of: string; description?: ReactNode; required?: boolean };

/** The address of a picture, which may be a template, or a picture to upload. `of` names the platform. */
export function PictureField({ of, ...props }: PictureFieldProps) {
  const { body, write } = useCampaignForm();
  return (
    <Stack gap={6}>
      <TemplateField {...props} placeholder="https://…/image.jpg" />
      <PictureTools
        label={of}
        notice={platformsOf(body).length > 1 ? 'short' : 'long'}
        value={textAt(body, props.path)}
        onPicked={(url) => write({ [props.path]: url })}
      />
    </Stack>
  );
}
