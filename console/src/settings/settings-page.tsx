import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { WorkspaceSettings } from '../api/generated/settings.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { FixedSettings } from './fixed-settings.tsx';
import { SettingsLinks } from './settings-links.tsx';

const fields = [
  ['name', 'Name', '1 to 100 characters'],
  ['timeZone', 'Time zone', 'IANA name; used for campaigns that name none and for times in the console'],
  ['frequencyCaps', 'Frequency caps', 'Messages per person in hours or days, such as 2/1d,5/7d, or none'],
  ['quietHours', 'Quiet hours', 'In each person’s time zone, such as 22:00-08:00, or none'],
  ['minimumDelay', 'Minimum delay', 'Minutes between two messages to a person, 1 to 10,080, or none'],
  ['zoneAttribute', 'Time zone attribute', 'The attribute that holds a person’s time zone'],
  ['controlGroup', 'Control group', 'Percent of the people whom campaigns leave out which say so, 1 to 50, or none'],
] as const;

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
        actions={<SettingsLinks />}
      />
      <Loaded query={settings}>{(data) => <SettingsForm key={JSON.stringify(data)} settings={data} />}</Loaded>
      <Loaded query={fixed}>{(data) => <FixedSettings fixed={data} />}</Loaded>
    </Stack>
  );
}

function SettingsForm({ settings }: { settings: WorkspaceSettings }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const change = useMutation({
    mutationKey: ['settings', workspaceId],
    mutationFn: (next: WorkspaceSettings) => consoleClient.settings.change({ ...next, workspaceId }),
    onSuccess: (next) => {
      queries.setQueryData(['settings', workspaceId], next);
      void queries.invalidateQueries({ queryKey: ['session'] });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(Object.fromEntries(new FormData(event.currentTarget)) as WorkspaceSettings);
      }}
    >
      <Stack gap="sm" maw={520}>
        {fields.map(([name, label, description]) => (
          <TextInput key={name} name={name} label={label} description={description} defaultValue={settings[name]} />
        ))}
        <NativeSelect
          name="quietMode"
          label="Messages in quiet hours"
          data={[
            { value: 'HOLD', label: 'wait until they are over' },
            { value: 'DROP', label: 'are dropped' },
          ]}
          defaultValue={settings.quietMode}
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
