import { Box, Group, ScrollArea, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useId } from '@mantine/hooks';
import { useState } from 'react';
import type { ClipboardEvent, ReactNode } from 'react';
import { textAt } from '../campaign-body.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { AreaField, TextField } from '../form-fields.tsx';
import { attributeNames, markerOf } from './attribute-marker.ts';
import type { PickedAttribute } from './attribute-marker.ts';
import { EmojiPicker } from './emoji-picker.tsx';
import { InsertMenu } from './insert-menu.tsx';
import { mayReplace, pastedTexts } from './pasted-texts.ts';

type TemplateFieldProps = {
  path: string | string[];
  label: string;
  description?: ReactNode;
  placeholder?: string;
  required?: boolean;
  isLong?: boolean;
  /** People read it: it may have emoji. Others are addresses and names of files. */
  isShown?: boolean;
};

/** A text that may be a template, with menus that insert emoji, and attributes by name. */
export function TemplateField({ isLong = false, isShown = false, ...props }: TemplateFieldProps) {
  const { body, write } = useCampaignForm();
  const id = useId();
  const paths = Array.isArray(props.path) ? props.path : [props.path];
  const insert = (marker: string) => {
    const input = document.getElementById(id) as HTMLInputElement | HTMLTextAreaElement | null;
    const text = textAt(body, paths[0]!);
    const from = input?.selectionStart ?? text.length;
    const until = input?.selectionEnd ?? from;
    const next = text.slice(0, from) + marker + text.slice(until);
    write(Object.fromEntries(paths.map((path) => [path, next])));
    // Puts the cursor behind the inserted text.
    requestAnimationFrame(() => {
      input?.focus();
      input?.setSelectionRange(from + marker.length, from + marker.length);
    });
  };
  const Field = isLong ? AreaField : TextField;
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <Box style={{ flexGrow: 1, minWidth: 0 }}>
        <Field {...props} id={id} />
      </Box>
      <Group gap={4} wrap="nowrap">
        {isShown && <EmojiPicker label={props.label} onPicked={insert} />}
        <AttributePicker label={props.label} onPicked={insert} />
      </Group>
    </Group>
  );
}

/** Title and message, of one or several platforms. Pasting several lines into the title fills both. */
export function ShownTexts({ paths }: { paths: string[] }) {
  const form = useCampaignForm();
  const at = (name: string) => paths.map((path) => `${path}.basic_details.${name}`);
  const paste = (event: ClipboardEvent<HTMLElement>) => {
    // The menus of the field are elsewhere in the document, but their events arrive here.
    if (!event.currentTarget.contains(event.target as Node)) return;
    const texts = pastedTexts(event.clipboardData.getData('text'));
    const input = event.target as HTMLInputElement;
    if (texts === undefined || !mayReplace(form, { path: paths[0]!, isWhole: isWholeSelected(input) })) return;
    event.preventDefault();
    form.write(
      Object.fromEntries([
        ...at('title').map((path) => [path, texts.title]),
        ...at('message').map((path) => [path, texts.message]),
      ]),
    );
  };
  return (
    <>
      <div onPaste={paste}>
        <TemplateField
          path={at('title')}
          label="Title"
          description="Paste two lines to fill title and message"
          required
          isShown
        />
      </div>
      <TemplateField path={at('message')} label="Message" required isLong isShown />
    </>
  );
}

function isWholeSelected({ selectionStart, selectionEnd, value }: HTMLInputElement): boolean {
  return selectionStart === 0 && selectionEnd === value.length;
}

type AttributePickerProps = { label: string; onPicked: (marker: string) => void };

/** Inserts an attribute into a text, by the names that the workspace's users have. */
function AttributePicker({ label, onPicked }: AttributePickerProps) {
  const menu = { what: 'an attribute', title: 'Insert attribute', face: '{ }', choices: Choices };
  return <InsertMenu {...menu} label={label} onPicked={onPicked} />;
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
        label="Default if missing (optional)"
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
      {found.length === 0 && <Text size="sm">No matching attributes.</Text>}
    </Stack>
  );
}
