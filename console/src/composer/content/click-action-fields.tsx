import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { listAt, textAt } from '../campaign-body.ts';
import { useCampaignForm, useFault } from '../campaign-form.ts';
import { ChoiceField } from '../form-fields.tsx';
import { TemplateField } from './template-field.tsx';

const actions = [
  { value: 'DEEPLINKING', label: 'Open a deep link' },
  { value: 'NAVIGATE_TO_A_SCREEN', label: 'Open a screen of the app' },
  { value: 'RICH_LANDING', label: 'Open a web page in the app' },
];

const values: Record<string, { label: string; placeholder: string }> = {
  DEEPLINKING: { label: 'Deep link', placeholder: 'shop://offers' },
  NAVIGATE_TO_A_SCREEN: { label: 'Screen name', placeholder: 'OffersActivity' },
  RICH_LANDING: { label: 'Address', placeholder: 'https://…' },
};

type Pair = { key?: string; value?: string };

/** The action of a click in an app, and its data. */
export function ClickActionFields({ base }: { base: string }) {
  const { body } = useCampaignForm();
  const at = (name: string) => `${base}.basic_details.${name}`;
  const action = textAt(body, at('default_click_action'));
  return (
    <>
      <ChoiceField
        path={at('default_click_action')}
        label="On click"
        none="Open the app"
        data={actions}
        onChosen={(chosen) =>
          chosen === ''
            ? {
                [at('default_click_action')]: undefined,
                [at('default_click_action_value')]: undefined,
                [at('key_value_pairs')]: undefined,
              }
            : { [at('default_click_action')]: chosen }
        }
      />
      {action !== '' && (
        <>
          <TemplateField
            path={at('default_click_action_value')}
            {...(values[action] ?? { label: 'Where to', placeholder: '' })}
            required
          />
          <Pairs path={at('key_value_pairs')} />
        </>
      )}
    </>
  );
}

function Pairs({ path }: { path: string }) {
  const { body, write } = useCampaignForm();
  const pairs = listAt<Pair>(body, path);
  const change = (next: Pair[]) => write({ [path]: next.length === 0 ? undefined : next });
  return (
    <Stack gap="xs" role="group" aria-label="Key-value pairs">
      <Text size="sm" fw={500}>
        Key-value pairs for the app
      </Text>
      {pairs.map((pair, index) => (
        <PairFields
          key={index}
          path={`${path}[${index}]`}
          number={index + 1}
          pair={pair}
          onChanged={(next) => change(pairs.map((one, at) => (at === index ? next : one)))}
          onRemoved={() => change(pairs.filter((_one, at) => at !== index))}
        />
      ))}
      <Group>
        <Button size="compact-sm" variant="default" onClick={() => change([...pairs, { key: '', value: '' }])}>
          Add pair
        </Button>
      </Group>
    </Stack>
  );
}

type PairFieldsProps = {
  path: string;
  number: number;
  pair: Pair;
  onChanged: (pair: Pair) => void;
  onRemoved: () => void;
};

function PairFields({ path, number, pair, onChanged, onRemoved }: PairFieldsProps) {
  const keyFault = useFault(`${path}.key`, path);
  const valueFault = useFault(`${path}.value`);
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <TextInput
        aria-label={`Key ${number}`}
        placeholder="key"
        {...(keyFault === undefined ? {} : { error: keyFault })}
        value={pair.key ?? ''}
        onChange={(event) => onChanged({ ...pair, key: event.currentTarget.value })}
      />
      <TextInput
        aria-label={`Value ${number}`}
        placeholder="value"
        {...(valueFault === undefined ? {} : { error: valueFault })}
        value={pair.value ?? ''}
        onChange={(event) => onChanged({ ...pair, value: event.currentTarget.value })}
        style={{ flexGrow: 1 }}
      />
      <Button variant="default" aria-label={`Remove pair ${number}`} onClick={onRemoved}>
        Remove
      </Button>
    </Group>
  );
}
