import { Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { listAt, platformPath, textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { ChoiceField, MoreFields, TextField, FlagField } from '../form-fields.tsx';
import { PictureField } from '../pictures/picture-field.tsx';
import { ClickActionFields } from './click-action-fields.tsx';
import { TemplateField } from './template-field.tsx';

const buttonKinds = [
  { value: 'call', label: 'Call a number' },
  { value: 'copy', label: 'Copy text' },
  { value: 'share', label: 'Share text' },
  { value: 'snooze', label: 'Show again later' },
];

const buttonValueLabels: Record<string, string> = {
  call: 'Number',
  copy: 'Text to copy',
  share: 'Text to share',
  snooze: 'Value for the app',
};

const maxButtons = 2;

export function AndroidFields() {
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
      <AndroidButtons base={base} />
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

type AndroidButton = { btn_name?: string; click_action_type?: string; click_action_value?: string };

function AndroidButtons({ base }: { base: string }) {
  const { body, write } = useCampaignForm();
  const path = `${base}.buttons`;
  const buttons = listAt<AndroidButton>(body, path);
  const change = (next: AndroidButton[]) => write({ [path]: next.length === 0 ? undefined : next });
  return (
    <Stack gap="xs" role="group" aria-label="Buttons">
      <Text size="sm" fw={500}>
        Buttons
      </Text>
      {buttons.map((_button, index) => {
        const at = `${path}[${index}]`;
        const kind = textAt(body, `${at}.click_action_type`);
        return (
          <Card key={index} withBorder p="sm">
            <Stack gap="xs">
              <Group align="flex-start" grow>
                <TextField path={`${at}.btn_name`} label={`Button ${index + 1}`} required />
                <ChoiceField path={`${at}.click_action_type`} label="Action" data={buttonKinds} />
              </Group>
              <TextField
                path={`${at}.click_action_value`}
                label={buttonValueLabels[kind] ?? 'Value'}
                required={kind !== 'snooze'}
              />
              <TextField path={`${at}.icon_url`} label="Icon (optional)" placeholder="https://…/icon.png" />
              <Group justify="flex-end">
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => change(buttons.filter((_one, other) => other !== index))}
                >
                  Remove button {index + 1}
                </Button>
              </Group>
            </Stack>
          </Card>
        );
      })}
      {buttons.length < maxButtons && (
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => change([...buttons, { btn_name: '', click_action_type: 'call', click_action_value: '' }])}
          >
            Add button
          </Button>
        </Group>
      )}
    </Stack>
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
