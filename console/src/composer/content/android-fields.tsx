import { Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { listAt, platformPath, textAt } from '../page/campaign-body.ts';
import { useCampaignForm } from '../page/campaign-form.ts';
import { ClickActionFields } from './click-action-fields.tsx';
import { ChoiceField, MoreFields, TextField } from '../page/form-fields.tsx';
import { TemplateField } from './template-field.tsx';

const kinds = [
  { value: 'call', label: 'Call a number' },
  { value: 'copy', label: 'Copy text' },
  { value: 'share', label: 'Share text' },
  { value: 'snooze', label: 'Show again later' },
];

const valueLabels: Record<string, string> = {
  call: 'Number',
  copy: 'Text to copy',
  share: 'Text to share',
  snooze: 'Value for the app',
};

const maxButtons = 2;

export function AndroidFields() {
  const { body } = useCampaignForm();
  const base = platformPath(body, 'ANDROID');
  return (
    <>
      <TemplateField
        path={`${base}.basic_details.summary`}
        label="Summary"
        description="A short text below the message"
      />
      <TemplateField path={`${base}.basic_details.image_url`} label="Image" placeholder="https://…/image.jpg" />
      <ClickActionFields base={base} />
      <Buttons base={base} />
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

function Buttons({ base }: { base: string }) {
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
                <ChoiceField path={`${at}.click_action_type`} label="Action" data={kinds} />
              </Group>
              <TextField path={`${at}.click_action_value`} label={valueLabels[kind] ?? 'Value'} />
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
