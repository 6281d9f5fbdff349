import { Button, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { subscribeBrowser } from '@carillon/client/browser';
import { consoleClient } from '../console.ts';
import { Failure } from '../parts/failure.tsx';
import { Section } from '../parts/section.tsx';
import { showToast } from '../parts/toast/toast-list.ts';
import { useWorkspace } from '../shell/workspace.ts';

/** Makes this browser a device of a user who is marked for tests. */
export function TestBrowser({ publicKey }: { publicKey: string | null }) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: async (customerId: string) => {
      // First, because a browser asks for permission only in answer to a click.
      const { endpoint, keys } = await subscribeBrowser({
        workerUrl: '/console/carillon-service-worker.js',
        serviceUrl: location.origin,
        publicKey: publicKey!,
      });
      const { id } = await consoleClient.users.add({ workspaceId, customerId });
      await consoleClient.users.markForTests({ workspaceId, id, isTest: true });
      await consoleClient.users.addDevice({
        ...{ workspaceId, id, deviceId: await nameOf(endpoint) },
        attributes: { platform: 'WEB', push_id: { endpoint, keys } },
      });
      await queries.invalidateQueries({ queryKey: ['person', workspaceId, id] });
      return customerId;
    },
    onSuccess: (customerId) => showToast({ text: `This browser is a test device of ${customerId}` }),
  });
  return (
    <Section title="Test devices">
      {publicKey === null ? (
        <Text size="sm">Connect Web Push on the Providers screen first. Then this browser can be a test device.</Text>
      ) : (
        <form
          aria-label="Add this browser"
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(String(new FormData(event.currentTarget).get('customerId')).trim());
          }}
        >
          <Group align="end" gap="sm">
            <TextInput
              name="customerId"
              label="User id"
              description="The user is created if it is unknown, and marked for tests"
              defaultValue="my-tests"
              required
              maxLength={512}
            />
            <Button type="submit" loading={add.isPending}>
              Add this browser
            </Button>
          </Group>
          {add.error !== null && <Failure error={add.error} />}
        </form>
      )}
    </Section>
  );
}

/** The same browser keeps its name, so that adding it again replaces the device. */
async function nameOf(endpoint: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint));
  const hex = [...new Uint8Array(digest).slice(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `browser-${hex}`;
}
