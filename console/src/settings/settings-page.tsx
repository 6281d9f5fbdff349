import { Button, Card, Group, NativeSelect, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { WorkspaceSettings } from '../api/generated/settings.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { showToast } from '../parts/toast-list.ts';
import { ZoneSelect } from '../parts/zone-select.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { FixedSettings } from './fixed-settings.tsx';
import { FrequencyCapFields } from './frequency-cap-fields.tsx';
import { QuietHoursFields } from './quiet-hours-fields.tsx';

/** What a workspace asks of its campaigns. */
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
      <PageHeader title="Settings" about="Running campaigns apply changes from their next part on." />
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

/** For the server a setting that does not hold is the word `none`; in the form its field is empty. */
function shown(value: string): string {
  return value === 'none' ? '' : value;
}

function readSettings(fields: FormData): WorkspaceSettings {
  const emptied = ['controlGroup', 'minimumDelay', 'dataPrefix'];
  const values = [...fields].map(([name, value]) => [name, emptied.includes(name) && value === '' ? 'none' : value]);
  return Object.fromEntries(values) as WorkspaceSettings;
}

/** What people notice: whose it is, how often and when something comes. */
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

/** What apps and callers notice. */
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
            description="As svc in svc_message_id; that of the installation if empty"
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
