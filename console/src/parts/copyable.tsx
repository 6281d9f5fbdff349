import { ActionIcon, Box, Code, CopyButton, Group, Text, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import styles from './copyable.module.css';

/** A text to copy: an id, a token, an address. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{text}</Code>
      <CopyTextButton text={text} label={label} />
    </Group>
  );
}

/** Several lines to copy: a command, a body. */
export function CopyableBlock({ text, label }: { text: string; label: string }) {
  return (
    <Box className={styles.block}>
      <Code block tabIndex={0} role="region" aria-label={label} className={styles.lines}>
        {text}
      </Code>
      <Box className={styles.button}>
        <CopyTextButton text={text} label={label} />
      </Box>
    </Box>
  );
}

/** The ids of an object, at the end of its page: users know the object by its name. */
export function Ids({ ids }: { ids: readonly (readonly [name: string, id: string])[] }) {
  return (
    <Group gap="xl" component="footer" {...{ 'aria-label': 'Ids' }}>
      {ids.map(([name, id]) => (
        <div key={name}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          <Copyable text={id} label={name.toLowerCase()} />
        </div>
      ))}
    </Group>
  );
}

export function CopyTextButton({ text, label }: { text: string; label: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : 'Copy'}>
          <ActionIcon
            variant="subtle"
            color="gray"
            // The smallest target that WCAG 2.2 (2.5.8) allows next to another.
            size={24}
            onClick={copy}
            aria-label={copied ? `Copied ${label}` : `Copy ${label}`}
          >
            {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} stroke={1.6} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
