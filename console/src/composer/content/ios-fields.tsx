import { SimpleGrid } from '@mantine/core';
import { platformPath, textAt } from '../page/campaign-body.ts';
import { useCampaignForm } from '../page/campaign-form.ts';
import { ClickActionFields } from './click-action-fields.tsx';
import { ChoiceField, FlagField, MoreFields, TextField } from '../page/form-fields.tsx';
import { TemplateField } from './template-field.tsx';

const media = [
  { value: 'Image', label: 'Image' },
  { value: 'GIF', label: 'GIF' },
  { value: 'Video', label: 'Video' },
  { value: 'Audio', label: 'Audio' },
];

export function IosFields() {
  const { body } = useCampaignForm();
  const base = platformPath(body, 'IOS');
  const kind = textAt(body, `${base}.basic_details.rich_media_type`);
  return (
    <>
      <TemplateField path={`${base}.basic_details.subtitle`} label="Subtitle" />
      <ChoiceField
        path={`${base}.basic_details.rich_media_type`}
        label="Image, video or sound"
        none="None"
        data={media}
        onChosen={(chosen) => ({
          [`${base}.basic_details.rich_media_type`]: chosen === '' ? undefined : chosen,
          ...(chosen === '' ? { [`${base}.basic_details.rich_media_value`]: undefined } : {}),
        })}
      />
      {kind !== '' && (
        <TemplateField
          path={`${base}.basic_details.rich_media_value`}
          label={`Address of the ${kind}`}
          placeholder="https://…"
          required
        />
      )}
      <ClickActionFields base={base} />
      <MoreFields label="More iOS options">
        <TextField
          path={`${base}.buttons[0].button_category`}
          label="Button category"
          description="Registered by the app; defines the buttons"
        />
        <FlagField path={`${base}.advanced.enable_ios_badge`} label="Set the app badge to 1" />
        <TemplateField path={`${base}.advanced.sound_file`} label="Sound" placeholder="chime.caf" />
        <TemplateField path={`${base}.advanced.coupon_code`} label="Coupon code" />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextField path={`${base}.advanced.group_key`} label="Group" description="Up to 45 letters and digits" />
          <TextField
            path={`${base}.advanced.collapse_replace_key`}
            label="Collapse key"
            description="A newer message replaces an older one with the same key"
          />
        </SimpleGrid>
      </MoreFields>
    </>
  );
}
