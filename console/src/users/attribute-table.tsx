import { Button, Group, NativeSelect, Text, TextInput, Textarea, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../api/generated/users.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { AskedForm } from '../parts/forms/asked-form.tsx';
import { ConfirmButton } from '../parts/forms/confirm-button.tsx';
import { resetSent } from '../parts/forms/reset-sent.ts';
import { DataTable } from '../parts/lists/data-table.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useMay } from '../session/use-session.ts';

const anywhere = { overflowWrap: 'anywhere' } as const;

type AttributeTableProps = { workspaceId: string; user: User; onChanged: () => Promise<unknown> };

/** The attributes of a user, by name. Users with the permission edit them with their type. */
export function AttributeTable({ workspaceId, user: { id, attributes }, onChanged }: AttributeTableProps) {
  const mayChange = useMay('people.write');
  const [edited, edit] = useState<{ name: string; value: unknown }>();
  const change = async (changes: Record<string, unknown>) => {
    await consoleClient.users.changeAttributes({ workspaceId, id, attributes: changes });
    await onChanged();
  };
  const save = async (changes: Record<string, unknown>) => {
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, attributes[name] ?? null]));
    await change(changes);
    showToast({ text: `${Object.keys(changes).join(', ')} saved`, undo: () => change(before) });
  };
  const entries = Object.entries(attributes).toSorted(([one], [other]) => one.localeCompare(other));
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Attributes
      </Title>
      {entries.length === 0 && <Text size="sm">No attributes.</Text>}
      {entries.length > 0 && (
        <DataTable
          label="Attributes"
          minWidth={480}
          rows={entries}
          keyOf={([name]) => name}
          columns={[
            { key: 'name', title: 'Attribute', cell: ([name]) => <span style={anywhere}>{name}</span> },
            { key: 'value', title: 'Value', cell: ([, value]) => <span style={anywhere}>{showValue(value)}</span> },
            ...(mayChange
              ? [
                  {
                    key: 'change',
                    title: 'Actions',
                    cell: ([name, value]: [string, unknown]) => (
                      <Group gap="xs" wrap="nowrap">
                        <Button
                          variant="default"
                          size="compact-xs"
                          aria-label={`Change ${name}`}
                          onClick={() => edit({ name, value })}
                        >
                          Change
                        </Button>
                        <ConfirmButton
                          label="Remove"
                          ariaLabel={`Remove ${name}`}
                          size="compact-xs"
                          title={`Remove ${name}?`}
                          hits={`${showValue(value)} is deleted; segments and texts that use ${name} no longer find it.`}
                          onConfirmed={async () => {
                            await change({ [name]: null });
                            showToast({
                              text: `${name} removed`,
                              undo: () => change({ [name]: value }),
                              undone: `${name} is back`,
                            });
                          }}
                        />
                      </Group>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {mayChange && edited === undefined && (
        <AskedForm label="Add attribute">
          {(onLeave) => <AttributeForm edited={undefined} onLeave={onLeave} onSave={save} />}
        </AskedForm>
      )}
      {mayChange && edited !== undefined && (
        <AttributeForm
          key={edited.name}
          edited={edited}
          onLeave={() => edit(undefined)}
          onSave={async (changes) => {
            await save(changes);
            edit(undefined);
          }}
        />
      )}
    </section>
  );
}

type AttributeFormProps = {
  edited: { name: string; value: unknown } | undefined;
  onLeave: () => void;
  onSave: (changes: Record<string, unknown>) => Promise<void>;
};

function AttributeForm({ edited, onLeave, onSave }: AttributeFormProps) {
  const [kind, choose] = useState<ValueKind>(edited ? kindOf(edited.value) : 'text');
  const [fault, tell] = useState<string>();
  const save = useMutation({ mutationFn: onSave });
  const given = edited === undefined ? '' : showValue(edited.value);
  return (
    <form
      aria-label="Attribute"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const fields = new FormData(form);
        const parsed = parseValue(String(fields.get('value') ?? ''), kind);
        tell('fault' in parsed ? parsed.fault : undefined);
        if ('fault' in parsed) return;
        const name = edited?.name ?? String(fields.get('name'));
        save.mutate({ [name]: parsed.value }, { onSuccess: () => resetSent(form, fields) });
      }}
    >
      <Group align="end" gap="sm" mt="sm">
        <TextInput
          name="name"
          label="Attribute"
          required
          defaultValue={edited?.name ?? ''}
          disabled={edited !== undefined}
        />
        <NativeSelect
          name="kind"
          label="Type"
          value={kind}
          data={Object.entries(valueKinds).map(([value, label]) => ({ value, label }))}
          onChange={(event) => choose(event.currentTarget.value as ValueKind)}
        />
        {kind === 'boolean' ? (
          <NativeSelect name="value" label="Value" defaultValue={given} data={['true', 'false']} />
        ) : kind === 'json' ? (
          <Textarea name="value" label="Value" defaultValue={given} autosize minRows={1} style={{ flexGrow: 1 }} />
        ) : (
          <TextInput name="value" label="Value" defaultValue={given} style={{ flexGrow: 1 }} />
        )}
        <Button type="submit" variant="default" loading={save.isPending}>
          {edited ? 'Save' : 'Add attribute'}
        </Button>
        <Button variant="default" onClick={onLeave}>
          Cancel
        </Button>
      </Group>
      {fault !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert" mt="xs">
          {fault}
        </Text>
      )}
      {save.error !== null && <Failure error={save.error} />}
    </form>
  );
}

/** Types of values in the data API. A date is text in ISO 8601. */
const valueKinds = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  json: 'List or object (JSON)',
} as const;
type ValueKind = keyof typeof valueKinds;

function kindOf(value: unknown): ValueKind {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'json';
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Converts the typed text to a value of the type. The server validates it. */
function parseValue(typed: string, kind: ValueKind): { value: unknown } | { fault: string } {
  switch (kind) {
    case 'text':
      return { value: typed };
    case 'number': {
      const value = Number(typed);
      return typed.trim() === '' || !Number.isFinite(value) ? { fault: 'Not a number.' } : { value };
    }
    case 'boolean':
      return { value: typed === 'true' };
    case 'json':
      try {
        const value: unknown = JSON.parse(typed);
        return value === null ? { fault: 'null removes an attribute; use Remove instead.' } : { value };
      } catch {
        return { fault: 'Not valid JSON, such as ["S", "M"] or {"zip": "1100"}.' };
      }
  }
}
