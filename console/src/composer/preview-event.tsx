import { Stack, Text, TextInput } from '@mantine/core';
import { textAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';

type PreviewEventProps = { event: Record<string, unknown>; onChanged: (event: Record<string, unknown>) => void };

/** What a firing of the campaign's business event would say, for the previews alone. */
export function PreviewEvent({ event, onChanged }: PreviewEventProps) {
  const { body, resources } = useCampaignForm();
  const named = textAt(body, 'basic_details.business_event');
  const attributes = resources.businessEvents.find(({ id, name }) => id === named || name === named)?.attributes ?? [];
  if (attributes.length === 0) return null;
  return (
    <Stack gap="xs" role="group" aria-label="What the event says">
      <Text size="sm" fw={500}>
        If the event says
      </Text>
      {attributes.map(({ name, type }) => (
        <TextInput
          key={name}
          label={name}
          size="xs"
          value={shownValue(event[name])}
          onChange={({ currentTarget: { value } }) => {
            const { [name]: _before, ...rest } = event;
            onChanged(value === '' ? rest : { ...rest, [name]: valueOf(value, type) });
          }}
        />
      ))}
    </Stack>
  );
}

function shownValue(value: unknown): string {
  if (value === undefined) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function valueOf(text: string, type: string): unknown {
  if (type === 'array') return text.split(',');
  if ((type === 'int' || type === 'float') && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  return text;
}
