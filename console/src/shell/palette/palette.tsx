import { Kbd, Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { consoleClient } from '../../console.ts';
import { failureText } from '../../parts/failure.tsx';
import { usePlaceEntries } from './palette-entries.ts';
import type { PaletteEntry } from './palette-entries.ts';
import styles from './palette.module.css';

type PaletteProps = { workspaceId: string; onClosed: () => void };

// A person who types has not finished a word before.
const pauseMilliseconds = 150;

/**
 * From a word to a screen, by the keyboard alone: screens, pages of the reference, what has such a name or id. The field
 * keeps the focus; the arrows move through the list (WAI-ARIA combobox).
 */
export function Palette({ workspaceId, onClosed }: PaletteProps) {
  const navigate = useNavigate();
  const listId = useId();
  const [word, setWord] = useState('');
  const [active, setActive] = useState(0);
  /** Enter came before what was found. */
  const [isEager, setEager] = useState(false);
  const [asked] = useDebouncedValue(word.trim(), pauseMilliseconds);
  const found = useQuery({
    queryKey: ['places', workspaceId, asked],
    queryFn: ({ signal }) => consoleClient.places.find({ workspaceId, q: asked, signal }),
    enabled: asked !== '',
  });
  const isSearching = word.trim() !== '' && (asked !== word.trim() || found.isFetching);
  const places = asked === word.trim() ? (found.data ?? []) : [];
  const entries = usePlaceEntries({ workspaceId, word: word.trim(), places });
  const chosen = Math.min(active, entries.length - 1);

  function open(entry: PaletteEntry): void {
    onClosed();
    if (entry.href !== undefined) location.assign(entry.href);
    else void navigate(entry.to as never);
  }
  useEffect(() => {
    if (isEager && !isSearching && entries[0]) open(entries[0]);
  });
  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setActive((chosen + step + entries.length) % entries.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const entry = entries[chosen];
      if (entry) open(entry);
      else setEager(isSearching);
    }
  }

  return (
    <Modal.Root opened onClose={onClosed} size={640} yOffset="12vh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label="Search" radius="lg">
        <Modal.Body p={0}>
          <TextInput
            data-autofocus
            size="md"
            variant="unstyled"
            className={styles.field!}
            leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
            rightSection={isSearching ? <Loader size={16} aria-label="Searching" /> : null}
            placeholder="Screen, campaign, segment, user, or any id"
            aria-label="Screen, campaign, segment, user, or any id"
            role="combobox"
            aria-expanded
            aria-controls={listId}
            aria-activedescendant={chosen < 0 ? undefined : `${listId}-${chosen}`}
            autoComplete="off"
            spellCheck={false}
            value={word}
            onChange={(event) => {
              setWord(event.currentTarget.value);
              setActive(0);
              setEager(false);
            }}
            onKeyDown={onKey}
          />
          <ul id={listId} role="listbox" aria-label="Found" className={styles.list} tabIndex={-1}>
            {entries.map((entry, index) => (
              <Option
                key={entry.key}
                id={`${listId}-${index}`}
                entry={entry}
                isActive={index === chosen}
                onPointed={() => setActive(index)}
                onChosen={() => open(entry)}
              />
            ))}
          </ul>
          {found.error !== null && asked !== '' && (
            <Text size="sm" p="md" role="alert">
              {failureText(found.error)}
            </Text>
          )}
          {entries.length === 0 && !isSearching && found.error === null && (
            <Text size="sm" c="dimmed" p="md">
              Nothing has this name or id. Users are found by their whole id.
            </Text>
          )}
          <div className={styles.keys}>
            <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> to move <Kbd size="xs">Enter</Kbd> to open{' '}
            <Kbd size="xs">Esc</Kbd> to close
          </div>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

type OptionProps = {
  id: string;
  entry: PaletteEntry;
  isActive: boolean;
  onPointed: () => void;
  onChosen: () => void;
};

function Option({ id, entry: { icon: Icon, name, detail, kind }, isActive, onPointed, onChosen }: OptionProps) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={isActive}
      className={styles.option}
      onMouseMove={onPointed}
      onClick={onChosen}
      ref={(element) => {
        if (isActive) element?.scrollIntoView({ block: 'nearest' });
      }}
    >
      <Icon size={18} stroke={1.6} aria-hidden style={{ flex: 'none' }} />
      <span className={styles.name}>
        {name}
        {detail !== null && <span className={styles.detail}>{detail}</span>}
      </span>
      <span className={styles.kind}>{kind}</span>
    </li>
  );
}
