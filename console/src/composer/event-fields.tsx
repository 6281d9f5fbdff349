import { SimpleGrid, Stack, Text } from '@mantine/core';
import { Notice } from '../parts/notice.tsx';
import { textAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';
import { ChoiceField } from './form-fields.tsx';
import { TimeField } from './time-field.tsx';
import { ZoneField } from './timing-fields.tsx';
import { scheduling } from './timing.ts';

/** The event that sends it, and from when until when it does. */
export function EventFields() {
  const { body, resources, existing } = useCampaignForm();
  const isFixed = existing !== undefined && existing.status !== 'DRAFT';
  const { businessEvents } = resources;
  const named = textAt(body, 'basic_details.business_event');
  if (businessEvents.length === 0)
    return (
      <Notice tone="warning" title="There is no business event yet">
        One is made through the API: <code>POST /v1.0/business_event</code>.
      </Notice>
    );
  const event = businessEvents.find(({ id, name }) => id === named || name === named);
  return (
    <Stack gap="sm">
      <ChoiceField
        path="basic_details.business_event"
        label="Event"
        none="Choose one"
        required
        disabled={isFixed}
        data={businessEvents.map(({ name }) => ({ value: name, label: name }))}
      />
      {event && event.attributes.length > 0 && (
        <Text size="sm">It says {event.attributes.map(({ name }) => name).join(', ')}, which texts may show.</Text>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TimeField path={`${scheduling}.expiry_time`} label="Until (optional)" />
        <ZoneField />
      </SimpleGrid>
      <ChoiceField
        path={`${scheduling}.delivery_type`}
        label="It begins"
        data={[
          { value: 'ASAP', label: 'when it is published' },
          { value: 'AT_FIXED_TIME', label: 'later' },
        ]}
        onChosen={(chosen) => {
          const changes = { [`${scheduling}.delivery_type`]: chosen };
          return chosen === 'ASAP' ? { ...changes, [`${scheduling}.start_time`]: undefined } : changes;
        }}
        disabled={isFixed}
      />
      {textAt(body, `${scheduling}.delivery_type`).toUpperCase() === 'AT_FIXED_TIME' && (
        <TimeField path={`${scheduling}.start_time`} label="From" required />
      )}
    </Stack>
  );
}
