import { Alert, Anchor, Button, CopyButton, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { SystemState } from '../api/generated/system.ts';
import { consoleClient } from '../console.ts';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { DatabaseCard } from './database-card.tsx';
import { JobTable } from './job-table.tsx';
import { InstallationCard } from './installation-card.tsx';
import { NodeTable } from './node-table.tsx';
import { RetentionTable } from './retention-table.tsx';
import { QueueTable } from './queue-table.tsx';

/** The installation below all workspaces: nodes, queues, duties, database. */
export function SystemPage() {
  const { id: workspaceId } = useWorkspace();
  const system = useQuery({
    queryKey: ['system', workspaceId],
    queryFn: () => consoleClient.system.read(workspaceId),
    refetchInterval: 5000,
  });
  return (
    <Stack gap="lg">
      <PageHeader
        title="System"
        about={
          <>
            The whole installation, across all workspaces. Diagnostics hold no keys, addresses or people.{' '}
            <Anchor href="/docs" underline="always" inherit>
              API reference
            </Anchor>
          </>
        }
        actions={system.data && <CopyDiagnostics state={system.data} />}
      />
      <Loaded query={system}>{(data) => <SystemOf state={data} />}</Loaded>
    </Stack>
  );
}

function SystemOf({ state }: { state: SystemState }) {
  return (
    <>
      {state.troubles.length > 0 && (
        <Alert color="red" title="Not ready">
          {state.troubles.join(', ')}
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <InstallationCard state={state} />
        <DatabaseCard state={state} />
      </SimpleGrid>
      <NodeTable nodes={state.nodes} now={state.now} />
      <QueueTable queues={state.queues} now={state.now} />
      <RetentionTable state={state} />
      <JobTable nodes={state.nodes} now={state.now} />
    </>
  );
}

/** Everything on this page as JSON, for whoever helps. */
function CopyDiagnostics({ state }: { state: SystemState }) {
  return (
    <CopyButton value={JSON.stringify(state, undefined, 2)}>
      {({ copied, copy }) => (
        <Button variant="default" onClick={copy}>
          {copied ? 'Copied' : 'Copy diagnostics'}
        </Button>
      )}
    </CopyButton>
  );
}
