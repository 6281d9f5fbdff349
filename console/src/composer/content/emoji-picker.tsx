import { NativeSelect, ScrollArea, Stack, Text, TextInput } from '@mantine/core';
import { IconMoodSmile } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import styles from './emoji-picker.module.css';
import { InsertMenu } from './insert-menu.tsx';

/** Newer ones are empty boxes on phones whose system is a few years old (Unicode 15.0: September 2022). */
const newestVersion = 15;
const maxFound = 80;

type Emoji = { emoji: string; name: string };
type EmojiGroup = { name: string; emojis: Emoji[] };

/** Inserts an emoji into a text: of a group, or found by a part of its name. */
export function EmojiPicker({ label, onPicked }: { label: string; onPicked: (emoji: string) => void }) {
  const face = <IconMoodSmile size={18} aria-hidden />;
  const menu = { what: 'an emoji', title: 'Insert emoji', face, choices: Choices };
  return <InsertMenu {...menu} label={label} onPicked={onPicked} />;
}

function Choices({ onPicked }: { onPicked: (emoji: string) => void }) {
  const [word, setWord] = useState('');
  const [group, setGroup] = useState(0);
  const { data: groups = [] } = useQuery({ queryKey: ['emoji'], queryFn: loadEmoji, staleTime: Infinity });
  const wanted = word.trim().toLowerCase();
  const found =
    wanted === ''
      ? (groups[group]?.emojis ?? [])
      : groups.flatMap(({ emojis }) => emojis.filter(({ name }) => name.includes(wanted))).slice(0, maxFound);
  return (
    <Stack gap="xs">
      <TextInput
        label="Find"
        size="xs"
        value={word}
        onChange={(event) => setWord(event.currentTarget.value)}
        data-autofocus
      />
      <NativeSelect
        label="Group"
        size="xs"
        value={String(group)}
        disabled={wanted !== ''}
        onChange={(event) => setGroup(Number(event.currentTarget.value))}
        data={groups.map(({ name }, index) => ({ value: String(index), label: name }))}
      />
      <ScrollArea.Autosize mah={220} type="auto" viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': 'Emoji' }}>
        <div className={styles.grid}>
          {found.map(({ emoji, name }) => (
            <button key={emoji} type="button" title={name} aria-label={name} onClick={() => onPicked(emoji)}>
              {emoji}
            </button>
          ))}
        </div>
      </ScrollArea.Autosize>
      {wanted !== '' && found.length === 0 && <Text size="sm">No emoji of this name.</Text>}
    </Stack>
  );
}

/** 420 kB of names, which only a visitor who opens the picker loads. */
async function loadEmoji(): Promise<EmojiGroup[]> {
  const { default: groups } = await import('unicode-emoji-json/data-by-group.json');
  return groups.map(({ name, emojis }) => ({
    name,
    emojis: emojis.filter(({ emoji_version: version }) => Number(version) <= newestVersion),
  }));
}
