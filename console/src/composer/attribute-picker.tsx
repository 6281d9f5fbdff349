import { Button, Group, Popover, ScrollArea, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { attributeNames, markerOf } from './attribute-marker.ts';
import type { PickedAttribute } from './attribute-marker.ts';
import { textAt } from './body-path.ts';
import { useCampaignForm } from './campaign-form.ts';

type AttributePickerProps = { label: string; onPicked: (marker: string) => void };

/** Puts what is known of a person into a text, by the names that the people of this workspace have. */
export function AttributePicker({ label, onPicked }: AttributePickerProps) {
  const [isOpen, open] = useState(false);
  return (
    <Popover opened={isOpen} onChange={open} width={300} position="bottom-end" trapFocus withinPortal={false}>
      <Popover.Target>
        <Button
          variant="default"
          onClick={() => open(!isOpen)}
          aria-label={`Insert an attribute into ${label}`}
          title="Insert what is known of a person"
          px="sm"
          style={{ flexShrink: 0 }}
        >
          {'{ }'}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={`Attributes for ${label}`}>
        <Choices
          onPicked={(marker) => {
            open(false);
            onPicked(marker);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices({ onPicked }: { onPicked: (marker: string) => void }) {
  const { body, resources } = useCampaignForm();
  const [word, setWord] = useState('');
  const [otherwise, setOtherwise] = useState('');
  const eventName = textAt(body, 'basic_details.business_event');
  const event = resources.businessEvents.find(({ name, id }) => name === eventName || id === eventName);
  const all: PickedAttribute[] = [
    ...(event?.attributes ?? []).map(({ name }) => ({ source: 'BusinessEventAttribute' as const, name, shown: name })),
    ...attributeNames(resources.attributes),
  ];
  const found = all.filter(({ name, shown }) => `${name} ${shown}`.toLowerCase().includes(word.trim().toLowerCase()));
  return (
    <Stack gap="xs">
      <TextInput
        label="Find"
        size="xs"
        value={word}
        onChange={(event_) => setWord(event_.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label="For those without it (optional)"
        placeholder="friend"
        size="xs"
        value={otherwise}
        onChange={(event_) => setOtherwise(event_.currentTarget.value)}
      />
      <ScrollArea.Autosize
        mah={220}
        type="auto"
        viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Attributes' }}
      >
        {found.map((attribute) => (
          <UnstyledButton
            key={`${attribute.source}.${attribute.name}`}
            w="100%"
            px={6}
            py={5}
            onClick={() => onPicked(markerOf(attribute, otherwise))}
          >
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" truncate>
                {attribute.shown}
              </Text>
              {attribute.shown !== attribute.name && (
                <Text size="xs" c="dimmed">
                  {attribute.name}
                </Text>
              )}
              {attribute.source === 'BusinessEventAttribute' && <Text size="xs">of the event</Text>}
            </Group>
          </UnstyledButton>
        ))}
      </ScrollArea.Autosize>
      {found.length === 0 && <Text size="sm">No attribute is called that.</Text>}
    </Stack>
  );
}
