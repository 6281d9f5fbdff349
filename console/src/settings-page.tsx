import {
  Button,
  Card,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  TextInput,
  Title,
  Checkbox,
  Text,
  ActionIcon,
  Input,
  NumberInput,
  Code,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { WorkspaceSettings, FixedSettings as Fixed } from './api/generated/settings.ts';
import { consoleClient } from './console.ts';
import { Copyable } from './parts/copyable.tsx';
import { Failure } from './parts/failure.tsx';
import { ZoneSelect } from './parts/forms/zone-select.tsx';
import { DataTable } from './parts/lists/data-table.tsx';
import { FactsTable } from './parts/lists/facts-table.tsx';
import { Loaded } from './parts/loaded.tsx';
import { PageHeader } from './parts/page-header.tsx';
import { windowName } from './parts/text/format-time.ts';
import { formatCaps, parseCaps } from './parts/text/frequency-caps.ts';
import type { FrequencyCap } from './parts/text/frequency-caps.ts';
import { showToast } from './parts/toast/toast-list.ts';
import { useWorkspace } from './shell/workspace.ts';

/** The settings of a workspace. */
export function SettingsPage() {
  const { id: workspaceId } = useWorkspace();
  const settings = useQuery({
    queryKey: ['settings', workspaceId],
    queryFn: () => consoleClient.settings.read(workspaceId),
  });
  const fixed = useQuery({
    queryKey: ['fixed-settings', workspaceId],
    queryFn: () => consoleClient.settings.readFixed(workspaceId),
  });
  return (
    <Stack gap="lg">
      <PageHeader about="Running campaigns apply changes from their next part on." />
      <Loaded query={settings}>{(data) => <SettingsForm key={JSON.stringify(data)} settings={data} />}</Loaded>
      <Loaded query={fixed}>{(data) => <FixedSettings fixed={data} />}</Loaded>
    </Stack>
  );
}

function SettingsForm({ settings }: { settings: WorkspaceSettings }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const store = async (next: WorkspaceSettings) => {
    queries.setQueryData(['settings', workspaceId], await consoleClient.settings.change({ ...next, workspaceId }));
    await queries.invalidateQueries({ queryKey: ['session'] });
  };
  const change = useMutation({
    mutationKey: ['settings', workspaceId],
    mutationFn: store,
    onSuccess: () =>
      showToast({ text: 'Settings saved', undo: () => store(settings), undone: 'Settings are as before' }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(readSettings(new FormData(event.currentTarget)));
      }}
    >
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
          <ReachSections settings={settings} />
          <AppSections settings={settings} />
        </SimpleGrid>
        {change.error !== null && <Failure error={change.error} />}
        <Group>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The server writes `none` for a setting that is not set; its field is empty. */
function shown(value: string): string {
  return value === 'none' ? '' : value;
}

function readSettings(fields: FormData): WorkspaceSettings {
  const emptied = ['controlGroup', 'minimumDelay', 'dataPrefix'];
  const values = [...fields].map(([name, value]) => [name, emptied.includes(name) && value === '' ? 'none' : value]);
  return Object.fromEntries(values) as WorkspaceSettings;
}

/** Settings that users notice: name, frequency caps and quiet hours. */
function ReachSections({ settings }: { settings: WorkspaceSettings }) {
  return (
    <>
      <Section title="Workspace">
        <TextInput name="name" label="Name" description="1 to 100 characters" defaultValue={settings.name} />
        <ZoneSelect
          name="timeZone"
          label="Time zone"
          description="Used for campaigns that name none and for times in the console"
          defaultValue={settings.timeZone}
        />
        <TextInput
          name="zoneAttribute"
          label="Time zone attribute"
          description="The attribute that holds a person’s time zone"
          defaultValue={settings.zoneAttribute}
        />
        <TextInput
          name="controlGroup"
          label="Control group, %"
          description="Held back by campaigns that use it: 1 to 50"
          placeholder="None"
          defaultValue={shown(settings.controlGroup)}
        />
      </Section>
      <Section title="Frequency and quiet hours">
        <FrequencyCapFields name="frequencyCaps" value={settings.frequencyCaps} />
        <TextInput
          name="minimumDelay"
          label="Minimum delay, minutes"
          description="Between two messages to a person: 1 to 10,080"
          placeholder="None"
          defaultValue={shown(settings.minimumDelay)}
        />
        <QuietHoursFields name="quietHours" value={settings.quietHours} />
        <NativeSelect
          name="quietMode"
          label="Messages in quiet hours"
          data={[
            { value: 'HOLD', label: 'Wait until they end' },
            { value: 'DROP', label: 'Are dropped' },
          ]}
          defaultValue={settings.quietMode}
        />
      </Section>
    </>
  );
}

/** Settings that apps and API callers notice. */
function AppSections({ settings }: { settings: WorkspaceSettings }) {
  return (
    <>
      <Section title="Messages and calls" isWide>
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" verticalSpacing="md">
          <NativeSelect
            name="androidMode"
            label="Android messages"
            description="Buttons, coupons and reports of what was shown need data"
            data={[
              { value: 'data', label: 'Data: the app shows them' },
              { value: 'notification', label: 'Notification: the system shows them' },
              { value: 'both', label: 'Both: the system in the background, the app in the foreground' },
            ]}
            defaultValue={settings.androidMode}
          />
          <TextInput
            name="pushFrom"
            label="Sender in Android data"
            description="Value of push_from, by which the app knows its sender"
            defaultValue={settings.pushFrom}
          />
          <TextInput
            name="dataPrefix"
            label="Prefix of data keys"
            description="For example svc in svc_message_id; if empty, that of the installation"
            placeholder="None"
            defaultValue={shown(settings.dataPrefix)}
          />
          <NativeSelect
            name="pushBodies"
            label="Push bodies"
            description="Lenient accepts null, empty texts and numbers as texts"
            data={[
              { value: 'lenient', label: 'Lenient: as real clients send them' },
              { value: 'strict', label: 'Strict: as documented' },
            ]}
            defaultValue={settings.pushBodies}
          />
        </SimpleGrid>
      </Section>
    </>
  );
}

type SectionProps = { title: string; isWide?: true; children: ReactNode };

function Section({ title, isWide, children }: SectionProps) {
  return (
    <Card withBorder component="section" aria-label={title} {...(isWide && { style: { gridColumn: '1 / -1' } })}>
      <Stack gap="md">
        <Title order={2} size="h5">
          {title}
        </Title>
        {children}
      </Stack>
    </Card>
  );
}

const suggestedHours = { from: '22:00', to: '08:00' };

/** The quiet hours. The form value is the text of the API and the command line. */
function QuietHoursFields({ name, value }: { name: string; value: string }) {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(value) ?? [];
  const [span, setSpan] = useState(from === undefined || to === undefined ? undefined : { from, to });
  return (
    <Stack gap={6}>
      <input type="hidden" name={name} value={span === undefined ? 'none' : `${span.from}-${span.to}`} />
      <Checkbox
        label="Quiet hours"
        description="In each person’s time zone"
        checked={span !== undefined}
        onChange={({ currentTarget: { checked } }) => setSpan(checked ? suggestedHours : undefined)}
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

// The value as the server stores it.
const maxCaps = 5;
const maxMessages = 100;
const maxHours = 720;

/** Frequency caps, one rule per line. The form value is the text of the API and the command line. */
function FrequencyCapFields({ name, value }: { name: string; value: string }) {
  const [caps, setCaps] = useState(() => parseCaps(value));
  const change = (index: number, next: FrequencyCap) => setCaps(caps.with(index, next));
  return (
    <Input.Wrapper
      labelElement="div"
      label="Frequency caps"
      description="How many messages a person gets at most; campaigns may ignore them"
    >
      <input type="hidden" name={name} value={formatCaps(caps)} />
      <Stack gap={6} mt={6} role="group" aria-label="Frequency caps">
        {caps.map((cap, index) => (
          <Group key={index} gap={6} wrap="nowrap">
            <NumberInput
              aria-label={`Messages of cap ${index + 1}`}
              w={84}
              min={1}
              max={maxMessages}
              allowDecimal={false}
              value={cap.messages}
              onChange={(messages) => change(index, { ...cap, messages: Number(messages) })}
            />
            <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
              messages in
            </Text>
            <NumberInput
              aria-label={`Length of cap ${index + 1}`}
              w={84}
              min={1}
              max={cap.unit === 'd' ? maxHours / 24 : maxHours}
              allowDecimal={false}
              value={cap.length}
              onChange={(length) => change(index, { ...cap, length: Number(length) })}
            />
            <NativeSelect
              aria-label={`Unit of cap ${index + 1}`}
              w={92}
              data={[
                { value: 'h', label: 'hours' },
                { value: 'd', label: 'days' },
              ]}
              value={cap.unit}
              onChange={({ currentTarget: { value: unit } }) => change(index, { ...cap, unit: unit as 'h' | 'd' })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove cap ${index + 1}`}
              onClick={() => setCaps(caps.filter((_cap, other) => other !== index))}
            >
              <IconTrash size={16} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        {caps.length === 0 && (
          <Text size="sm" c="dimmed">
            None
          </Text>
        )}
        {caps.length < maxCaps && (
          <Button
            size="compact-sm"
            variant="default"
            w="fit-content"
            leftSection={<IconPlus size={14} stroke={1.6} aria-hidden />}
            onClick={() => setCaps([...caps, { messages: 2, length: caps.length + 1, unit: 'd' }])}
          >
            Add cap
          </Button>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

/** Values that callers need and that cannot be changed here: ids, addresses and limits, with their source. */
function FixedSettings({ fixed }: { fixed: Fixed }) {
  const { workspaceId, dbName, url, dataCenter, headerPrefix, limits } = fixed;
  return (
    <Stack gap="lg">
      <Card withBorder component="section" aria-label="API details">
        <Title order={2} size="h5" mb="sm">
          API details
        </Title>
        <FactsTable
          facts={[
            ['Workspace id', <Copyable key="id" text={workspaceId} label="workspace id" />],
            [`Database name (${headerPrefix.value}-DBNAME)`, <Copyable key="db" text={dbName} label="database name" />],
            ['API base', <Copyable key="url" text={url} label="API base" />],
            ['Data center', <Copyable key="dc" text={dataCenter} label="data center" />],
            [
              'Header abbreviation',
              <Group key="prefix" gap="xs">
                <Copyable text={headerPrefix.value} label="header abbreviation" />
                <Text size="xs">
                  <Code>{headerPrefix.setting}</Code>; SVC is accepted as well
                </Text>
              </Group>,
            ],
          ]}
        />
      </Card>
      <section>
        <Title order={2} size="h5" mb="xs">
          Limits
        </Title>
        <DataTable
          label="Limits"
          rows={limits}
          keyOf={({ id }) => id}
          columns={[
            { key: 'name', title: 'What', cell: ({ name, windowSeconds }) => `${name}${windowName(windowSeconds)}` },
            { key: 'most', title: 'At most', isNumber: true, cell: ({ most }) => most.toLocaleString('en') },
            { key: 'used', title: 'Used', isNumber: true, cell: ({ used }) => used.toLocaleString('en') },
            {
              key: 'source',
              title: 'From',
              cell: ({ setting }) => (setting === null ? 'Documented API' : <Code>{setting}</Code>),
            },
          ]}
        />
      </section>
    </Stack>
  );
}
