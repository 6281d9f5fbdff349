import { Box, Button, Code, CopyButton, Group } from '@mantine/core';

/** A text that is there to be copied: an id, a token, an address. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{text}</Code>
      <CopyTextButton text={text} label={label} />
    </Group>
  );
}

/** Several lines to be copied as they are: a command, a body. */
export function CopyableBlock({ text, label }: { text: string; label: string }) {
  return (
    <Box>
      <Code block tabIndex={0} role="region" aria-label={label}>
        {text}
      </Code>
      <Group justify="flex-end" mt={4}>
        <CopyTextButton text={text} label={label} />
      </Group>
    </Box>
  );
}

export function CopyTextButton({ text, label }: { text: string; label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="default" onClick={copy} aria-label={`Copy ${label}`}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  );
}
