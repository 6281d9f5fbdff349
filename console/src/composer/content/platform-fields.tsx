import { SimpleGrid } from '@mantine/core';
import { platformPath, textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { ChoiceField, MoreFields, TextField, FlagField } from '../form-fields.tsx';
import { PictureField } from '../pictures/picture-field.tsx';
import { AndroidButtons } from './android-buttons.tsx';
import { ClickActionFields } from './click-action-fields.tsx';
import { TemplateField } from './template-field.tsx';

/** The fields of Android. The buttons are with the fields of all platforms if there are such. */
export function AndroidFields({ withButtons }: { withButtons: boolean }) {
  const base = platformPath(useCampaignForm(), 'ANDROID');
  return (
    <>
      <TemplateField
        path={`${base}.basic_details.summary`}
        label="Summary"
        description="A short text below the message"
        isShown
      />
      <PictureField path={`${base}.basic_details.image_url`} label="Image" of="Android" />
      <ClickActionFields base={base} />
      {withButtons && <AndroidButtons base={base} />}
      <MoreFields label="More Android options">
        <TextField
          path={`${base}.basic_details.notification_channel`}
          label="Notification channel"
          description="Created by the app; its settings decide sound and importance"
        />
        <TemplateField path={`${base}.advanced.sound_file`} label="Sound" placeholder="chime.mp3" />
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

const iosMedia = [
  { value: 'Image', label: 'Image' },
  { value: 'GIF', label: 'GIF' },
  { value: 'Video', label: 'Video' },
  { value: 'Audio', label: 'Audio' },
];

export function IosFields() {
  const form = useCampaignForm();
  const { body } = form;
  const base = platformPath(form, 'IOS');
  const kind = textAt(body, `${base}.basic_details.rich_media_type`);
  return (
    <>
      <TemplateField path={`${base}.basic_details.subtitle`} label="Subtitle" isShown />
      <ChoiceField
        path={`${base}.basic_details.rich_media_type`}
        label="Image, video or sound"
        none="None"
        data={iosMedia}
        onChosen={(chosen) => ({
          [`${base}.basic_details.rich_media_type`]: chosen === '' ? undefined : chosen,
          ...(chosen === '' ? { [`${base}.basic_details.rich_media_value`]: undefined } : {}),
        })}
      />
      {kind === 'Image' && (
        <PictureField
          path={`${base}.basic_details.rich_media_value`}
          label={`Address of the ${kind}`}
          of="iOS"
          required
        />
      )}
      {kind !== '' && kind !== 'Image' && (
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
