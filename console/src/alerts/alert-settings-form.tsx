import { Button, Card, Checkbox, Group, SimpleGrid, Stack, TagsInput, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertKind, AlertSettings } from '../api/generated/alerts.ts';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { RouteLink } from '../parts/route-link.tsx';
import { showToast } from '../parts/toast-list.ts';
import { kindNames } from './kind-names.ts';

/** Where a workspace is told, and of what. */
export function AlertSettingsForm({ workspaceId }: { workspaceId: string }) {
  const settings = useQuery({
    queryKey: ['alert-settings', workspaceId],
    queryFn: () => consoleClient.alerts.readSettings(workspaceId),
  });
  return (
    <Loaded query={settings}>
      {(data) => <Form key={JSON.stringify(data)} workspaceId={workspaceId} settings={data} />}
    </Loaded>
  );
}

const kinds = Object.keys(kindNames) as AlertKind[];

function Form({ workspaceId, settings }: { workspaceId: string; settings: AlertSettings }) {
  const queries = useQueryClient();
  const [emails, setEmails] = useState(settings.emails);
  const [muted, setMuted] = useState(settings.mutedKinds);
  const store = (next: AlertSettings) =>
    consoleClient.alerts
      .changeSettings({ ...next, webhookUrl: next.webhookUrl ?? '', workspaceId })
      .then((stored) => queries.setQueryData(['alert-settings', workspaceId], stored));
  const change = useMutation({
    mutationFn: store,
    onSuccess: () =>
      showToast({ text: 'Alert settings saved', undo: () => store(settings), undone: 'Settings are as before' }),
  });
  const test = useMutation({
    mutationFn: () => consoleClient.alerts.test(workspaceId),
    onSuccess: () => showToast({ text: 'Test sent; its attempts are in the API log' }),
  });
  const isSet = settings.webhookUrl !== null || settings.emails.length > 0;
  return (
    <Card withBorder component="section" aria-label="Who is told">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const webhookUrl = String(new FormData(event.currentTarget).get('webhookUrl') ?? '').trim();
          change.mutate({ webhookUrl: webhookUrl === '' ? null : webhookUrl, emails, mutedKinds: muted });
        }}
      >
        <Stack gap="sm">
          <Title order={2} size="h5">
            Who is told
          </Title>
          <TextInput
            name="webhookUrl"
            type="url"
            label="Webhook"
            description="Gets a signed POST when an alert opens and when it closes"
            placeholder="https://ops.example.com/alerts"
            defaultValue={settings.webhookUrl ?? ''}
          />
          <TagsInput
            label="Email addresses"
            description="Up to 10 addresses; press Enter after each"
            value={emails}
            onChange={setEmails}
            maxTags={10}
            acceptValueOnBlur
          />
          <Checkbox.Group
            label="Tell about"
            value={kinds.filter((kind) => !muted.includes(kind))}
            onChange={(told) => setMuted(kinds.filter((kind) => !told.includes(kind)))}
          >
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={4}>
              {kinds.map((kind) => (
                <Checkbox key={kind} value={kind} label={kindNames[kind]} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          {(change.error ?? test.error) !== null && <Failure error={(change.error ?? test.error)!} />}
          <Group>
            <Button type="submit" loading={change.isPending}>
              Save
            </Button>
            <Button variant="default" disabled={!isSet} loading={test.isPending} onClick={() => test.mutate()}>
              Send a test
            </Button>
          </Group>
          <Text size="sm" c="dimmed">
            Every attempt is in the API log, under{' '}
            <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{ view: 'callbacks' }}>
              callbacks
            </RouteLink>{' '}
            and{' '}
            <RouteLink to="/w/$workspaceId/log" params={{ workspaceId }} search={{ view: 'mails' }}>
              emails
            </RouteLink>
            , and can be sent again there.
          </Text>
        </Stack>
      </form>
    </Card>
  );
}
