import { Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';

const begun = { from: '22:00', to: '08:00' };

/** From when until when nobody is disturbed. In the form it is the text that the API and the command line know. */
export function QuietHoursFields({ name, value }: { name: string; value: string }) {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(value) ?? [];
  const [span, setSpan] = useState(from === undefined || to === undefined ? undefined : { from, to });
  return (
    <Stack gap={6}>
      <input type="hidden" name={name} value={span === undefined ? 'none' : `${span.from}-${span.to}`} />
      <Checkbox
        label="Quiet hours"
        description="In each person’s time zone"
        checked={span !== undefined}
        onChange={({ currentTarget: { checked } }) => setSpan(checked ? begun : undefined)}
      />
      {span !== undefined && (
        <Group gap={6}>
          <TextInput
            type="time"
            aria-label="Quiet from"
            w={120}
            required
            value={span.from}
            onChange={({ currentTarget: { value: next } }) => setSpan({ ...span, from: next })}
          />
          <Text size="sm">to</Text>
          <TextInput
            type="time"
            aria-label="Quiet until"
            w={120}
            required
            value={span.to}
            onChange={({ currentTarget: { value: next } }) => setSpan({ ...span, to: next })}
          />
        </Group>
      )}
    </Stack>
  );
}
