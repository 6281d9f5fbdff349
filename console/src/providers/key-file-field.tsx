import { Button, FileButton, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';

type KeyFileFieldProps = { name: string; label: string; description: string; accept: string };

/** A key that is pasted, or read from a file. It stays in its field and is sent once. */
export function KeyFileField({ name, label, description, accept }: KeyFileFieldProps) {
  const [text, setText] = useState('');
  return (
    <Stack gap={4} align="flex-start">
      <Textarea
        name={name}
        label={label}
        description={description}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        rows={5}
        required
        autoComplete="off"
        spellCheck={false}
        w="100%"
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
      />
      <FileButton accept={accept} onChange={(file) => void file?.text().then(setText)}>
        {(props) => (
          <Button {...props} variant="default" size="compact-sm">
            Choose the file
          </Button>
        )}
      </FileButton>
    </Stack>
  );
}
