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
      <PageHeader
        title="Settings"
        about="Of this workspace. Running campaigns apply changes from their next chunk on."
      />
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
        change.mutate(Object.fromEntries(new FormData(event.currentTarget)) as WorkspaceSettings);
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
          label="Control group"
          description="Percent of the people whom campaigns leave out which say so, 1 to 50, or none"
          defaultValue={settings.controlGroup}
        />
      </Section>
      <Section title="How often, and when">
        <FrequencyCapFields name="frequencyCaps" value={settings.frequencyCaps} />
        <TextInput
          name="minimumDelay"
          label="Minimum delay"
          description="Minutes between two messages to a person, 1 to 10,080, or none"
          defaultValue={settings.minimumDelay}
        />
        <QuietHoursFields name="quietHours" value={settings.quietHours} />
        <NativeSelect
          name="quietMode"
          label="Messages in quiet hours"
          data={[
            { value: 'HOLD', label: 'wait until they are over' },
            { value: 'DROP', label: 'are dropped' },
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
            description="Data needs an app that shows messages itself; only then there are buttons, groups, coupons and reports of what was seen"
            data={[
              { value: 'data', label: 'data: the app shows them' },
              { value: 'notification', label: 'notification: the system shows them' },
              { value: 'both', label: 'both: the system in the background, the app in the foreground' },
            ]}
            defaultValue={settings.androidMode}
          />
          <TextInput
            name="pushFrom"
            label="Sender in Android data"
            description="Value of push_from, by which the app knows whose message it is"
            defaultValue={settings.pushFrom}
          />
          <TextInput
            name="dataPrefix"
            label="Prefix of keys for apps"
            description="As svc in svc_message_id and beside aps, or none for the header prefix of the installation"
            defaultValue={settings.dataPrefix}
          />
          <NativeSelect
            name="pushBodies"
            label="Bodies of pushes"
            description="Lenient takes null, empty texts, numbers as texts and words in any case"
            data={[
              { value: 'lenient', label: 'lenient: as real clients send them' },
              { value: 'strict', label: 'strict: as the interface shows them' },
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
