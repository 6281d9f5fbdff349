import { ActionIcon, Button, Group, Input, NativeSelect, NumberInput, Stack, Text } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { formatCaps, parseCaps } from '../parts/frequency-caps.ts';
import type { FrequencyCap } from '../parts/frequency-caps.ts';

// As the server has it.
const maxCaps = 5;
const maxMessages = 100;
const maxHours = 720;

/** How many messages a person may get: one line a rule. In the form it is the text that the API and the command line know. */
export function FrequencyCapFields({ name, value }: { name: string; value: string }) {
  const [caps, setCaps] = useState(() => parseCaps(value));
  const change = (index: number, next: FrequencyCap) => setCaps(caps.with(index, next));
  return (
    <Input.Wrapper
      labelElement="div"
      label="Frequency caps"
      description="How many messages a person gets at most; campaigns may ignore them"
    >
      <input type="hidden" name={name} value={formatCaps(caps)} />
      <Stack gap={6} mt={6} role="group" aria-label="Frequency caps">
        {caps.map((cap, index) => (
          <Group key={index} gap={6} wrap="nowrap">
            <NumberInput
              aria-label={`Messages of cap ${index + 1}`}
              w={84}
              min={1}
              max={maxMessages}
              allowDecimal={false}
              value={cap.messages}
              onChange={(messages) => change(index, { ...cap, messages: Number(messages) })}
            />
            <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
              messages in
            </Text>
            <NumberInput
              aria-label={`Length of cap ${index + 1}`}
              w={84}
              min={1}
              max={cap.unit === 'd' ? maxHours / 24 : maxHours}
              allowDecimal={false}
              value={cap.length}
              onChange={(length) => change(index, { ...cap, length: Number(length) })}
            />
            <NativeSelect
              aria-label={`Unit of cap ${index + 1}`}
              w={92}
              data={[
                { value: 'h', label: 'hours' },
                { value: 'd', label: 'days' },
              ]}
              value={cap.unit}
              onChange={({ currentTarget: { value: unit } }) => change(index, { ...cap, unit: unit as 'h' | 'd' })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove cap ${index + 1}`}
              onClick={() => setCaps(caps.filter((_cap, other) => other !== index))}
            >
              <IconTrash size={16} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {caps.length === 0 && (
          <Text size="sm" c="dimmed">
            None
          </Text>
        )}
        {caps.length < maxCaps && (
          <Button
            size="compact-sm"
            variant="default"
            w="fit-content"
            leftSection={<IconPlus size={14} stroke={1.6} aria-hidden />}
            onClick={() => setCaps([...caps, { messages: 2, length: caps.length + 1, unit: 'd' }])}
          >
            Add cap
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
