import { Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SandboxState } from '../api/generated/sandbox.ts';
import { consoleClient } from '../console.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useSession } from '../session/use-session.ts';
import { useWorkspace } from '../shell/workspace.ts';
import { ClockControl } from './clock-control.tsx';
import { Counters } from './counters.tsx';
import { FaultForm } from './fault-form.tsx';
import { KeptEmails } from './kept-emails.tsx';
import { Phones } from './phones.tsx';

/** Be the phone, the clock and the provider that fails. */
export function SandboxPage() {
  const { isSandbox } = useSession();
  return isSandbox ? <Sandbox /> : <EmptyState title="This installation is not a sandbox" />;
}

function Sandbox() {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const state = useQuery({
    queryKey: ['sandbox'],
    queryFn: () => consoleClient.sandbox.read(),
    refetchInterval: 2000,
  });
  const onState = (next: SandboxState) => {
    queries.setQueryData(['sandbox'], next);
    void queries.invalidateQueries({ queryKey: ['inbox', workspaceId] });
  };
  return (
    <Stack gap="lg">
      <PageHeader
        title="Sandbox"
        about="Nothing here is real: messages go to simulated providers and devices."
        actions={
          <Group gap="sm">
            <ConfirmButton
              label="Reset to seed"
              title="Reset to the seed?"
              hits={
                <Text size="sm">
                  The demo workspace returns to its first state: the same people, devices and keys with the same ids,
                  and nothing else. Running sends are stopped. The keys printed at the start keep working; other
                  workspaces are not changed.
                </Text>
              }
              onConfirmed={async () => {
                onState(await consoleClient.sandbox.reset());
                // The start link was used up; all else may have changed.
                await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'opened' });
              }}
            />
            <ConfirmButton
              label="Start from empty"
              title="Start from empty?"
              hits={
                <Text size="sm">
                  All messages on the phones of all workspaces, the provider counters and the faults are deleted.
                  People, segments and campaigns are kept.
                </Text>
              }
              onConfirmed={async () => onState(await consoleClient.sandbox.empty())}
            />
          </Group>
        }
      />
      <Loaded query={state}>
        {(data) => (
          <>
            <ClockControl clock={data.clock} onState={onState} />
            <FaultForm onState={onState} />
            <Counters counters={data.counters} />
          </>
        )}
      </Loaded>
      <Phones workspaceId={workspaceId} />
      <KeptEmails />
    </Stack>
  );
}
