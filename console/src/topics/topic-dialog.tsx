import { Button, Group, Modal, NumberInput, Radio, Stack, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { Topic } from '../api/generated/topics.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useWorkspace } from '../shell/workspace.ts';

type Texts = Pick<Topic, 'name' | 'description' | 'position'>;
type OnChanged = { onChanged: () => Promise<unknown> };

/** Asks for a new topic. Its key follows the name until somebody writes another one. */
export function NewTopicButton({ onChanged }: OnChanged) {
  const { id: workspaceId } = useWorkspace();
  const [name, setName] = useState('');
  const [writtenKey, writeKey] = useState<string>();
  const key = writtenKey ?? keyOf(name);
  const reset = () => {
    setName('');
    writeKey(undefined);
  };
  return (
    <TopicDialog
      label="New topic"
      submit="Add topic"
      title="New topic"
      initial={{ name: '', description: '', position: 0 }}
      onName={setName}
      onOpen={reset}
      onSubmit={async (texts, fields) => {
        const isInByDefault = fields.get('default') === 'in';
        await consoleClient.topics.add({ workspaceId, key, isInByDefault, ...texts });
        await onChanged();
        showToast({ text: `“${texts.name}” is added` });
      }}
    >
      <TextInput
        name="key"
        label="Key"
        description="The name in requests and campaigns. It cannot be changed later."
        value={key}
        onChange={(event) => writeKey(event.currentTarget.value)}
        maxLength={64}
        required
        autoComplete="off"
      />
      <Radio.Group
        name="default"
        label="Who is in it without a choice"
        description="It cannot be changed later, because that would change consent without a choice."
        defaultValue="out"
      >
        <Stack gap="xs" mt={4}>
          <Radio value="out" label="No one: people join it" />
          <Radio value="in" label="Everyone: people can leave it" />
        </Stack>
      </Radio.Group>
    </TopicDialog>
  );
}

/** Changes what people read about a topic, and its position. */
export function ChangeTopicButton({ topic, onChanged }: OnChanged & { topic: Topic }) {
  const { id: workspaceId } = useWorkspace();
  const { key, name, description, position } = topic;
  return (
    <TopicDialog
      label="Change"
      ariaLabel={`Change ${name}`}
      submit="Save"
      title={`Change “${name}”`}
      size="compact-xs"
      initial={{ name, description, position }}
      onSubmit={async (texts) => {
        await consoleClient.topics.change({ workspaceId, key, ...texts });
        await onChanged();
        showToast({
          text: `“${texts.name}” is changed`,
          undo: async () => {
            await consoleClient.topics.change({ workspaceId, key, name, description, position });
            await onChanged();
          },
        });
      }}
    />
  );
}

type TopicDialogProps = {
  label: string;
  ariaLabel?: string;
  submit: string;
  title: string;
  size?: 'compact-xs' | 'sm';
  initial: Texts;
  onName?: (name: string) => void;
  onOpen?: () => void;
  onSubmit: (texts: Texts, fields: FormData) => Promise<unknown>;
  /** Fields between the name and the description. */
  children?: ReactNode;
};

function TopicDialog({ size = 'sm', initial, onName, onOpen, ...props }: TopicDialogProps) {
  const [isOpen, dialog] = useDisclosure(false);
  const act = useMutation({
    mutationFn: (fields: FormData) => props.onSubmit(textsOf(fields), fields),
    onSuccess: dialog.close,
  });
  const open = () => {
    act.reset();
    onOpen?.();
    dialog.open();
  };
  return (
    <>
      <Button
        variant={size === 'sm' ? 'filled' : 'default'}
        size={size}
        onClick={open}
        {...(props.ariaLabel === undefined ? {} : { 'aria-label': props.ariaLabel })}
      >
        {props.label}
      </Button>
      {/* Without the header of the component library, which would be a second banner landmark. */}
      <Modal.Root opened={isOpen} onClose={dialog.close} transitionProps={{ duration: 0 }}>
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <form
              onSubmit={(event) => {
                event.preventDefault();
                act.mutate(new FormData(event.currentTarget));
              }}
            >
              <Stack>
                <Modal.Title fw={600}>{props.title}</Modal.Title>
                <TextInput
                  name="name"
                  label="Name"
                  description="People read it."
                  defaultValue={initial.name}
                  onChange={(event) => onName?.(event.currentTarget.value)}
                  maxLength={100}
                  required
                  data-autofocus
                  autoComplete="off"
                />
                {props.children}
                <Textarea
                  name="description"
                  label="Description"
                  description="People read it: what comes, and how often."
                  defaultValue={initial.description}
                  maxLength={500}
                  autosize
                  minRows={2}
                />
                <NumberInput
                  name="position"
                  label="Position"
                  description="The order in lists. Equal positions are sorted by key."
                  defaultValue={initial.position}
                  min={0}
                  max={1000}
                  allowDecimal={false}
                  hideControls
                />
                {act.error !== null && <Failure error={act.error} />}
                <Group justify="flex-end">
                  <Button variant="default" onClick={dialog.close}>
                    Cancel
                  </Button>
                  <Button type="submit" loading={act.isPending}>
                    {props.submit}
                  </Button>
                </Group>
              </Stack>
            </form>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

function textsOf(fields: FormData): Texts {
  const text = (name: string) => String(fields.get(name) ?? '').trim();
  return { name: text('name'), description: text('description'), position: Number(text('position')) };
}

/** Returns a key made of the letters and digits of a name. */
function keyOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
}
