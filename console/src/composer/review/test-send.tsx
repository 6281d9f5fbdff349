import type { CampaignTestAnswer } from '@carillon/client';
import { Button, Card, Group, NativeSelect, SimpleGrid, Stack, TagsInput, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleClient } from '../../console.ts';
import { Failure } from '../../parts/failure.tsx';
import { platformNames } from '../../parts/text/platform-names.ts';
import { RouteLink } from '../../parts/links.tsx';
import { useMay, useSession } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { useCampaignForm } from '../campaign-form.ts';
import { platformsOf, sentBody } from '../campaign-body.ts';
import type { Platform } from '../campaign-body.ts';
import { usePreviewedUser } from '../preview-user.tsx';

const userId = 'USER_ATTRIBUTE_UNIQUE_ID';
// The identifiers that a test accepts.
const maxUsers = 10;

/** Sends the campaign to named users at once, such as the author or users marked for tests. */
export function TestSend() {
  const { id: workspaceId } = useWorkspace();
  const { body } = useCampaignForm();
  const { customerId } = usePreviewedUser();
  const [identifier, setIdentifier] = useState('');
  const [values, setValues] = useState<string[]>(customerId === undefined ? [] : [customerId]);
  const [platform, setPlatform] = useState('');
  const test = useMutation({
    mutationFn: () =>
      consoleClient.composer.test({
        workspaceId,
        campaign: sentBody(body),
        identifier: identifier.trim() === '' ? userId : identifier.trim(),
        values,
        ...(platform === '' ? {} : { platform: platform as Platform }),
      }),
  });
  return (
    <Card withBorder role="region" aria-label="Send a test">
      <Title order={2} size="h5" mb="xs">
        Send a test
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate();
        }}
      >
        <Stack gap="sm">
          <Text size="sm">
            Sent at once to the devices of up to ten people and marked as a test: it is not counted and ignores caps and
            quiet hours.
          </Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label="People whose"
              description="An attribute; empty means the user id"
              placeholder="user id"
              value={identifier}
              onChange={(event) => setIdentifier(event.currentTarget.value)}
            />
            <NativeSelect
              label="Platform"
              description="One of the chosen, or all"
              value={platform}
              data={[
                { value: '', label: 'Every platform' },
                ...platformsOf(body).map((value) => ({ value, label: platformNames[value] })),
              ]}
              onChange={(event) => setPlatform(event.currentTarget.value)}
            />
          </SimpleGrid>
          <TagsInput
            label="is one of"
            description="Press Enter after each"
            value={values}
            onChange={setValues}
            acceptValueOnBlur
            maxTags={maxUsers}
          />
          {identifier.trim() === '' && (
            <MarkedUsers
              left={(customerId) => !values.includes(customerId)}
              onPick={(customerId) => setValues([...values, customerId].slice(0, maxUsers))}
            />
          )}
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={test.isPending} disabled={values.length === 0}>
              Send test
            </Button>
          </Group>
          {test.error !== null && <Failure error={test.error} what="The test was not sent" />}
          {test.data !== undefined && <Results results={test.data} />}
        </Stack>
      </form>
    </Card>
  );
}

/** Users marked for tests, each as a button. */
function MarkedUsers({
  left,
  onPick,
}: {
  left: (customerId: string) => boolean;
  onPick: (customerId: string) => void;
}) {
  const { id: workspaceId } = useWorkspace();
  const marked = useQuery({
    queryKey: ['test-people', workspaceId],
    queryFn: () => consoleClient.users.listForTests(workspaceId),
    enabled: useMay('people.read'),
  });
  const users = (marked.data ?? []).filter(({ customerId }) => left(customerId)).slice(0, maxUsers);
  if (users.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Marked for tests">
      <Text size="sm">Marked for tests:</Text>
      {users.map(({ customerId }) => (
        <Button key={customerId} size="compact-xs" variant="default" onClick={() => onPick(customerId)}>
          {customerId}
        </Button>
      ))}
    </Group>
  );
}

function Results({ results }: { results: CampaignTestAnswer }) {
  const { id: workspaceId } = useWorkspace();
  const { isSandbox } = useSession();
  const mayLook = useMay('sandbox.use');
  return (
    <div role="status">
      {Object.entries(results).map(([value, { status, failure_reason: reason }]) => (
        <Text key={value} size="sm">
          {value}: {status === 'success' ? 'sent' : (reason ?? 'not sent')}
        </Text>
      ))}
      {isSandbox && mayLook && (
        <Text size="sm" component="div">
          It arrives{' '}
          <RouteLink to="/w/$workspaceId/sandbox" params={{ workspaceId }}>
            on the phones of the sandbox
          </RouteLink>
          .
        </Text>
      )}
    </div>
  );
}
