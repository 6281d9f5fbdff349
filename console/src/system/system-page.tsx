import { Alert, Anchor, Button, CopyButton, SimpleGrid, Stack, Card, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { SystemState, SystemNode } from '../api/generated/system.ts';
import { consoleClient } from '../console.ts';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ToneBadge } from '../parts/status-badge.tsx';
import { formatBytes } from '../parts/text/format-bytes.ts';
import { formatDuration, formatAge, spanText, formatDay } from '../parts/text/format-time.ts';
import { Ago } from '../parts/text/time.tsx';
import { useWorkspace } from '../shell/workspace.ts';
import { JobTable, QueueTable } from './jobs.tsx';

/** The installation: nodes, queues, jobs and database. */
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

/** Copies everything on this page as JSON, for support. */
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

const roleNames: Record<string, string> = { all: 'API and sending', api: 'API', worker: 'Sending' };

/** The node that served this page. */
function InstallationCard({ state }: { state: SystemState }) {
  const { version, mode, role, machine, changedSettings, clockOffsetSeconds } = state;
  const { disk } = machine;
  return (
    <FactCard
      title="This node"
      facts={[
        ['Carillon', version],
        ['Mode', mode === 'sandbox' ? 'Sandbox' : 'Production'],
        ['Role', roleNames[role] ?? role],
        ['Uptime', formatDuration(machine.uptimeSeconds * 1000)],
        ['Runtime', `${machine.runtime}, ${machine.platform}`],
        ['Memory', formatBytes(machine.memoryBytes)],
        ['Database disk', disk ? `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free` : undefined],
        ['Clock offset', clockOffsetSeconds === 0 ? undefined : formatDuration(Math.abs(clockOffsetSeconds) * 1000)],
        ['Settings changed', changedSettings.length === 0 ? 'None' : changedSettings.join(', ')],
      ]}
    />
  );
}

function DatabaseCard({ state: { database, now } }: { state: SystemState }) {
  const { migrations, replicas } = database;
  return (
    <FactCard
      title="Database"
      facts={[
        ['PostgreSQL', `${database.version}, ${database.isEmbedded ? 'embedded' : 'external'}`],
        ['Size', formatBytes(database.sizeBytes)],
        ['Page checksums', database.hasPageChecksums ? 'On' : 'Off: a page that the disk changed goes unnoticed'],
        ['Connections', `${database.connections} of ${database.maxConnections}`],
        ['Connections of nodes', `up to ${database.nodesMayOpen} of ${database.openToNodes}`],
        ['Running since', <Ago key="since" at={database.startedAt} />],
        ['Migrations', migrations.newest ? `${migrations.count}, up to ${migrations.newest.name}` : 'None'],
        ['Newest backup', <Backup key="backup" database={database} now={now} />],
        [
          'Replicas',
          replicas.length === 0
            ? 'None'
            : replicas
                .map(({ state, lagBytes }) =>
                  lagBytes === null ? state : `${state}, ${formatBytes(Math.max(0, lagBytes))} behind`,
                )
                .join('; '),
        ],
      ]}
    />
  );
}

/** The age of the newest backup, and the maximum age if nodes make backups. */
function Backup({ database, now }: { database: SystemState['database']; now: string }) {
  const { backupMadeAt, backupHours, isBackupLate } = database;
  const made = backupMadeAt === null ? 'None made by Carillon' : `${formatAge(backupMadeAt, now)} ago`;
  return (
    <>
      {isBackupLate && <ToneBadge tone="failed">Late</ToneBadge>} {made}
      {backupHours !== null && `, every ${spanText(backupHours * 3600)}`}
    </>
  );
}

/** A table of facts. Undefined values are left out. */
function FactCard({ title, facts }: { title: string; facts: [name: string, value: ReactNode][] }) {
  return (
    <Card withBorder component="section" aria-label={title} style={{ minWidth: 0 }}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      <Stack gap={6}>
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <Group key={name} justify="space-between" gap="lg" align="flex-start" wrap="nowrap">
              <Text size="sm" c="dimmed" style={{ flex: 'none' }}>
                {name}
              </Text>
              <Text size="sm" component="div" ta="right" style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
                {value}
              </Text>
            </Group>
          ))}
      </Stack>
    </Card>
  );
}

const nodeRoles = { all: 'API and sending', api: 'API', worker: 'Sending' } as const;

/** The processes of the installation that reported within a day. */
function NodeTable({ nodes, now }: { nodes: SystemNode[]; now: string }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Nodes
      </Title>
      <DataTable
        label="Nodes"
        minWidth={720}
        rows={nodes}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'node',
            title: 'Node',
            cell: ({ id, host, processId, certificateEndsAt }) => (
              <>
                <Group gap={4} wrap="nowrap">
                  {host}, process {processId}
                  <CopyTextButton text={id} label={`id of the node on ${host}`} />
                </Group>
                {certificateEndsAt !== null && (
                  <Text size="xs" c="dimmed">
                    Certificate until {formatDay(certificateEndsAt.slice(0, 10))}
                  </Text>
                )}
              </>
            ),
          },
          { key: 'role', title: 'Role', cell: ({ role }) => nodeRoles[role] },
          { key: 'version', title: 'Version', cell: ({ version }) => version },
          { key: 'since', title: 'Uptime', cell: ({ startedAt }) => formatAge(startedAt, now) },
          { key: 'memory', title: 'Memory', isNumber: true, cell: ({ memoryBytes }) => formatBytes(memoryBytes) },
          {
            key: 'connections',
            title: 'Connections',
            isNumber: true,
            cell: ({ connections }) => `up to ${connections}`,
          },
          {
            key: 'seen',
            title: 'Last seen',
            cell: ({ seenAt, isAlive }) => (
              <>
                <ToneBadge tone={isAlive ? 'done' : 'failed'}>{isAlive ? 'Alive' : 'Silent'}</ToneBadge>
                <Text size="xs" c="dimmed">
                  {formatAge(seenAt, now)} ago
                </Text>
              </>
            ),
          },
        ]}
      />
    </section>
  );
}

type RetainedKind = keyof SystemState['retentionDays'];

const retainedKinds: Record<RetainedKind, { name: string; setting: string; table?: 'deliveries' | 'events' }> = {
  ledger: { name: 'Delivery log', setting: 'CARILLON_KEEP_LEDGER_DAYS', table: 'deliveries' },
  events: { name: 'Events of users', setting: 'CARILLON_KEEP_EVENTS_DAYS', table: 'events' },
  runs: { name: 'Runs with their figures', setting: 'CARILLON_KEEP_RUNS_DAYS' },
  interactions: { name: 'Reports of devices', setting: 'CARILLON_KEEP_INTERACTIONS_DAYS' },
  pushRequests: { name: 'Push requests', setting: 'CARILLON_KEEP_PUSH_REQUESTS_DAYS' },
  messages: { name: 'Callbacks, emails and event batches', setting: 'CARILLON_KEEP_MESSAGES_DAYS' },
  operations: { name: 'File operations', setting: 'CARILLON_KEEP_OPERATIONS_DAYS' },
  audit: { name: 'Audit log', setting: 'CARILLON_KEEP_AUDIT_DAYS' },
  apiLog: { name: 'API log', setting: 'CARILLON_KEEP_API_LOG_DAYS' },
};

/** Retention periods, and the daily partitions. */
function RetentionTable({ state: { retentionDays, database } }: { state: SystemState }) {
  return (
    <section>
      <Title order={2} size="h5" mb="xs">
        Retention
      </Title>
      <DataTable
        label="Retention"
        minWidth={640}
        rows={Object.keys(retainedKinds) as RetainedKind[]}
        keyOf={(kind) => kind}
        columns={[
          {
            key: 'name',
            title: 'Records',
            cell: (kind) => (
              <>
                {retainedKinds[kind].name}
                <Text size="xs" c="dimmed">
                  {retainedKinds[kind].setting}
                </Text>
              </>
            ),
          },
          {
            key: 'kept',
            title: 'Kept',
            isNumber: true,
            cell: (kind) => `${retentionDays[kind].toLocaleString('en')} days`,
          },
          {
            key: 'days',
            title: 'Partitions',
            cell: (kind) => (
              <Partitions span={database.days.find(({ table }) => table === retainedKinds[kind].table)} />
            ),
          },
        ]}
      />
    </section>
  );
}

function Partitions({ span }: { span: SystemState['database']['days'][number] | undefined }) {
  if (span === undefined) return '–';
  return (
    <>
      {span.days.toLocaleString('en')} daily partitions
      <Text size="xs" c="dimmed">
        {formatDay(span.oldest)} to {formatDay(span.newest)}
      </Text>
    </>
  );
}
