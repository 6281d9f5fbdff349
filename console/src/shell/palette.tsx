import { Kbd, Loader, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  IconSearch,
  IconBook2,
  IconBroadcast,
  IconDeviceMobile,
  IconKey,
  IconInbox,
  IconSend,
  IconTerminal2,
  IconUser,
  IconUsersGroup,
  IconWebhook,
} from '@tabler/icons-react';
import type { TablerIcon } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import type { KeyboardEvent } from 'react';
import type { Place } from '../api/generated/places.ts';
import { consoleClient } from '../console.ts';
import { failureText } from '../parts/failure.tsx';
import { navigationGroups } from '../screens.ts';
import { useListedScreens } from './listed-screens.ts';
import styles from './palette.module.css';

type PaletteProps = { workspaceId: string; onClosed: () => void };

// A delay after the last key, so that half-typed words are not searched.
const pauseMilliseconds = 150;

/**
 * Opens a screen, a reference page or an object by name or id, with the keyboard only. The field keeps the focus, and
 * the arrow keys move through the list (WAI-ARIA combobox).
 */
export function Palette({ workspaceId, onClosed }: PaletteProps) {
  const navigate = useNavigate();
  const listId = useId();
  const [word, setWord] = useState('');
  const [active, setActive] = useState(0);
  /** The user pressed Enter before the results arrived. */
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
              No results. Users are found by their complete id only.
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

type PaletteEntry = {
  key: string;
  icon: TablerIcon;
  name: string;
  detail: string | null;
  /** The kind of the entry: "Screen", "Campaign". */
  kind: string;
} & (
  | { to: { to: string; params: Record<string, string>; search: Record<string, string> }; href?: undefined }
  | { to?: undefined; href: string }
);

type PlaceQuery = { workspaceId: string; word: string; places: readonly Place[] };

/** Lists all screens, or the screens and objects that match the word. */
function usePlaceEntries({ workspaceId, word, places }: PlaceQuery): PaletteEntry[] {
  const screens = useScreens(workspaceId);
  const folded = word.toLowerCase();
  const matching = screens
    .filter(({ name, detail }) => `${name} ${detail ?? ''}`.toLowerCase().includes(folded))
    .sort((one, other) => rankOf(one, folded) - rankOf(other, folded));
  return [...matching, ...places.map((place) => entryOf(place, workspaceId))];
}

/** Entries that begin with the word come first. */
function rankOf({ name }: PaletteEntry, folded: string): number {
  return folded !== '' && name.toLowerCase().startsWith(folded) ? 0 : 1;
}

/** Screens in the order of the navigation, then the others, then the pages of the reference. */
function useScreens(workspaceId: string): PaletteEntry[] {
  const listed = useListedScreens();
  const groups: readonly string[] = navigationGroups;
  const inOrder = [...groups, undefined].flatMap((group) =>
    listed.filter(({ place }) => (group === undefined ? !groups.includes(place) : place === group)),
  );
  return [
    ...inOrder.map(({ title, to, icon, place }): PaletteEntry => ({
      ...{ key: to, icon, name: title, detail: groups.includes(place) ? place : null, kind: 'Screen' },
      to: { to, params: { workspaceId }, search: {} },
    })),
    {
      key: '/docs',
      icon: IconBook2,
      name: 'API reference',
      detail: 'Every route, with examples',
      kind: 'Docs',
      href: '/docs',
    },
    {
      ...{ key: '/openapi.json', icon: IconBook2, name: 'OpenAPI document', detail: 'openapi.json', kind: 'Docs' },
      href: '/openapi.json',
    },
  ];
}

type PlaceKind = Place['kind'];

const placeKinds: Record<PlaceKind, { icon: TablerIcon; kind: string }> = {
  campaign: { icon: IconSend, kind: 'Campaign' },
  run: { icon: IconSend, kind: 'Run of a campaign' },
  segment: { icon: IconUsersGroup, kind: 'Segment' },
  user: { icon: IconUser, kind: 'User' },
  device: { icon: IconDeviceMobile, kind: 'Device' },
  delivery: { icon: IconBroadcast, kind: 'Message' },
  call: { icon: IconTerminal2, kind: 'API call' },
  callback: { icon: IconWebhook, kind: 'Callback' },
  email: { icon: IconInbox, kind: 'Email' },
  key: { icon: IconKey, kind: 'Key' },
};

function entryOf({ kind, id, name, detail }: Place, workspaceId: string): PaletteEntry {
  return { key: `${kind} ${id}`, name, detail, ...placeKinds[kind], to: addressOf(kind, { id, workspaceId }) };
}

function addressOf(kind: PlaceKind, { id, workspaceId }: { id: string; workspaceId: string }) {
  const at = (path: string, params: Record<string, string> = {}, search: Record<string, string> = {}) => ({
    to: `/w/$workspaceId/${path}`,
    params: { workspaceId, ...params },
    search,
  });
  switch (kind) {
    case 'campaign':
    case 'run':
      return at('campaigns/$campaignId', { campaignId: id });
    case 'segment':
      return at('segments/$segmentId', { segmentId: id });
    case 'user':
    case 'device':
      return at('people/$userId', { userId: id });
    case 'delivery':
      return at('deliveries', {}, { row: id });
    case 'call':
      return at('log', {}, { call: id });
    case 'callback':
      return at('log', {}, { view: 'callbacks', call: id });
    case 'email':
      return at('log', {}, { view: 'mails', call: id });
    case 'key':
      return at('keys');
    default:
      return kind satisfies never;
  }
}
