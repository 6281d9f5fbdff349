import { Anchor, Group, Text } from '@mantine/core';
import type { SegmentDetail } from '../api/generated/segment-answers.ts';
import { consoleClient } from '../console.ts';
import { Ago } from '../parts/text/time.tsx';
import { CopyTextButton } from '../parts/copyable.tsx';
import { DataTable } from '../parts/lists/data-table.tsx';
import { Definition } from '../parts/text/definition.tsx';
import { formatBytes } from '../parts/text/format-bytes.ts';
import { Section } from '../parts/section.tsx';
import { StatusBadge, stateWords } from '../parts/status-badge.tsx';

/** The files of a segment, newest first, with their results and skipped lines. */
export function FileOperations({ segment, workspaceId }: { segment: SegmentDetail; workspaceId: string }) {
  const number = (count: number | null) => count?.toLocaleString('en') ?? '–';
  return (
    <Section title="File operations">
      <DataTable
        label="File operations"
        minWidth={900}
        rows={segment.operations}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'operation',
            title: 'File',
            cell: (operation) => (
              <>
                <Group gap={4}>
                  <Text size="sm" fw={500}>
                    {operation.number}. {stateWords(operation.kind)}
                  </Text>
                  <CopyTextButton text={operation.requestId} label="request id" />
                </Group>
                <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {operation.fileUrl ?? 'Posted'} ({formatBytes(operation.bytesRead)}) by {operation.requestedBy}
                </Text>
              </>
            ),
          },
          {
            key: 'state',
            title: 'State',
            cell: ({ state, errorMessage, errorDetail }) => (
              <>
                <StatusBadge status={state} />
                {errorMessage !== null && <Text size="xs">{errorMessage}</Text>}
                {errorDetail !== null && <Text size="xs">{errorDetail}</Text>}
              </>
            ),
          },
          {
            key: 'found',
            title: <Definition word="Found" />,
            isNumber: true,
            cell: ({ valuesFound }) => number(valuesFound),
          },
          {
            key: 'processed',
            title: <Definition word="Processed" />,
            isNumber: true,
            cell: ({ valuesProcessed }) => number(valuesProcessed),
          },
          {
            key: 'users',
            title: <Definition word="People" />,
            isNumber: true,
            cell: ({ userCount }) => number(userCount),
          },
          {
            key: 'rejects',
            title: 'Skipped lines',
            cell: (operation) => <Rejects operation={operation} segmentId={segment.id} workspaceId={workspaceId} />,
          },
          {
            key: 'ended',
            title: 'Ended',
            cell: ({ endedAt }) => (endedAt === null ? '–' : <Ago at={endedAt} />),
          },
        ]}
      />
    </Section>
  );
}

type RejectsProps = { operation: SegmentDetail['operations'][number]; segmentId: string; workspaceId: string };

function Rejects({ operation, segmentId, workspaceId }: RejectsProps) {
  const { valuesFound, valuesProcessed } = operation;
  if (valuesProcessed === null) return '–';
  const skipped = valuesFound - valuesProcessed;
  if (skipped === 0) return 'None';
  return (
    <Anchor
      href={consoleClient.segments.rejectsUrl({ workspaceId, segmentId, operationId: operation.id })}
      underline="always"
      download
      size="sm"
    >
      {skipped.toLocaleString('en')}, with reasons (CSV)
    </Anchor>
  );
}
