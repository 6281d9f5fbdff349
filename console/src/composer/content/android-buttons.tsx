import { Button, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { listAt, textAt } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { ChoiceField, MoreFields, TextField } from '../form-fields.tsx';

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

type AndroidButton = { btn_name?: string; click_action_type?: string; click_action_value?: string; icon_url?: string };

/** The buttons of an Android message. A button begins with its text: what it does is asked once there is one. */
export function AndroidButtons({ base }: { base: string }) {
  const { body, write } = useCampaignForm();
  const path = `${base}.buttons`;
  const buttons = listAt<AndroidButton>(body, path);
  const remove = (index: number) => {
    const left = buttons.filter((_one, other) => other !== index);
    write({ [path]: left.length === 0 ? undefined : left });
  };
  const shown = Math.min(maxButtons, buttons.length + 1);
  return (
    <Stack gap="xs" role="group" aria-label="Buttons">
      {Array.from({ length: shown }, (_, index) => (
        <ButtonFields
          key={index}
          at={`${path}[${index}]`}
          number={index + 1}
          isBegun={index < buttons.length}
          onRemoved={() => remove(index)}
        />
      ))}
    </Stack>
  );
}

type ButtonFieldsProps = { at: string; number: number; isBegun: boolean; onRemoved: () => void };

function ButtonFields({ at, number, isBegun, onRemoved }: ButtonFieldsProps) {
  const { body, write } = useCampaignForm();
  const error = useFault(`${at}.btn_name`);
  const kind = textAt(body, `${at}.click_action_type`);
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: isBegun ? 3 : 1 }} spacing="xs">
        <TextInput
          label={`Button ${number}`}
          placeholder={number === 1 ? 'Call us' : ''}
          {...(isBegun ? { withAsterisk: true } : { description: 'Optional, on Android' })}
          {...(error === undefined ? {} : { error })}
          value={textAt(body, `${at}.btn_name`)}
          onChange={({ currentTarget: { value } }) =>
            write({ [`${at}.btn_name`]: value, ...(isBegun ? {} : { [`${at}.click_action_type`]: 'call' }) })
          }
        />
        {isBegun && <ChoiceField path={`${at}.click_action_type`} label="Action" data={kinds} />}
        {isBegun && (
          <TextField
            path={`${at}.click_action_value`}
            label={valueLabels[kind] ?? 'Value'}
            required={kind !== 'snooze'}
          />
        )}
      </SimpleGrid>
      {isBegun && (
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <MoreFields label={`Icon of button ${number}`} isOpen={textAt(body, `${at}.icon_url`) !== ''}>
            <TextField path={`${at}.icon_url`} label="Icon (optional)" placeholder="https://…/icon.png" />
          </MoreFields>
          <Button size="compact-sm" variant="subtle" color="gray" onClick={onRemoved} style={{ justifySelf: 'end' }}>
            Remove button {number}
          </Button>
        </SimpleGrid>
      )}
    </>
  );
}
