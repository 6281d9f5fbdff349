import { Anchor, Button, Card, Group, Progress, Stack, Text, Title, Code } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { SegmentDetail } from '../../api/generated/segment-answers.ts';
import { consoleClient } from '../../console.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Notice } from '../../parts/notice.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { FillProgress } from '../fill-progress.tsx';
import { maxRemembered } from './table-file.ts';
import type { SentFile } from './use-send-file.ts';

const countText = (count: number) => count.toLocaleString('en');

type FileResultProps = { sent: SentFile; onAgain: () => void };

/** The progress and result of a file: users found, skipped lines, and next steps. */
export function FileResult({ sent, onAgain }: FileResultProps) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const { segmentId, operationId } = sent;
  const segment = useQuery({
    queryKey: ['segment', workspaceId, segmentId],
    queryFn: () => consoleClient.segments.read({ workspaceId, id: segmentId }),
    refetchInterval: ({ state }) => (hasEnded(state.data, operationId) ? false : 1000),
  });
  const operation = segment.data?.operations.find(({ id }) => id === operationId);
  const isDone = hasEnded(segment.data, operationId);
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ queryKey: ['segments', workspaceId] });
  }, [isDone, queries, workspaceId]);
  return (
    <Stack gap="lg">
      {segment.error !== null && (
        <Failure error={segment.error} what="The state of the file is unknown" onRetry={() => void segment.refetch()} />
      )}
      <Card withBorder role="region" aria-label="Result of the file">
        <Stack gap="md">
          {segment.data?.progress && <Filling progress={segment.data.progress} lines={sent.lines} />}
          {!isDone && !segment.data?.progress && <Text size="sm">The file is waiting to be read.</Text>}
          {operation !== undefined && isDone && <Outcome operation={operation} sent={sent} />}
        </Stack>
      </Card>
      <Next sent={sent} isGood={operation?.state === 'SUCCEEDED'} onAgain={onAgain} />
    </Stack>
  );
}

function hasEnded(segment: SegmentDetail | undefined, operationId: string): boolean {
  return segment?.operations.some(({ id, endedAt }) => id === operationId && endedAt !== null) ?? false;
}

type FillingProps = { progress: NonNullable<SegmentDetail['progress']>; lines: number | undefined };

function Filling({ progress, lines }: FillingProps) {
  return (
    <Stack gap="xs">
      <FillProgress progress={progress} />
      {lines !== undefined && lines > 0 && (
        <Progress
          value={Math.min(100, (progress.valuesFound / lines) * 100)}
          aria-label="Part of the lines that are read"
          transitionDuration={0}
        />
      )}
    </Stack>
  );
}

type OutcomeProps = { operation: SegmentDetail['operations'][number]; sent: SentFile };

const did = { CREATE: 'added', ADD: 'added', REMOVE: 'removed', REPLACE: 'now in the segment' } as const;

function Outcome({ operation, sent }: OutcomeProps) {
  const { id: workspaceId } = useWorkspace();
  const mayRead = useMay('people.read');
  const { state, valuesFound, valuesProcessed, userCount, errorMessage, errorDetail, kind } = operation;
  if (state !== 'SUCCEEDED')
    return (
      <Notice tone="error" role="alert" title={errorMessage ?? 'The file was rejected'}>
        {errorDetail ?? 'The segment has not changed.'}
      </Notice>
    );
  const skipped = valuesFound - (valuesProcessed ?? valuesFound);
  return (
    <>
      <Group gap="xl" align="flex-end">
        <div>
          <Text fz={28} fw={600} lh={1.15} data-count="named">
            {countText(userCount ?? 0)}
          </Text>
          <Text size="sm">{`people ${did[kind]}`}</Text>
        </div>
        <div>
          <Text size="sm">{`${countText(valuesFound)} lines`}</Text>
          <Text size="sm">
            {skipped === 0 ? (
              'none skipped'
            ) : (
              <Anchor
                href={consoleClient.segments.rejectsUrl({
                  workspaceId,
                  segmentId: sent.segmentId,
                  operationId: sent.operationId,
                })}
                underline="always"
                download
              >
                {`${countText(skipped)} skipped, with reasons (CSV)`}
              </Anchor>
            )}
          </Text>
        </div>
        <StatusBadge status={state} />
      </Group>
      {sent.values.length > 0 && mayRead && <UnmatchedValues sent={sent} />}
      {sent.lines === undefined && (
        <Text size="sm">Values of a file at a URL are not stored, so unmatched values are not listed.</Text>
      )}
    </>
  );
}

type NextProps = FileResultProps & { isGood: boolean };

function Next({ sent, isGood, onAgain }: NextProps) {
  const { id: workspaceId } = useWorkspace();
  const { segmentId } = sent;
  return (
    <Group gap="xs" role="group" aria-label="What next">
      <Title order={2} size="h5" w="100%">
        What next
      </Title>
      {isGood && (
        <ButtonLink
          to="/w/$workspaceId/campaigns/new"
          params={{ workspaceId }}
          search={{ segment: segmentId }}
          variant="filled"
        >
          Send to segment
        </ButtonLink>
      )}
      <ButtonLink to="/w/$workspaceId/segments/$segmentId" params={{ workspaceId, segmentId }}>
        Open segment
      </ButtonLink>
      <Button variant="subtle" onClick={onAgain}>
        Another file
      </Button>
    </Group>
  );
}

/** The server looks up at most this many values per call. */
const batchSize = 5_000;
const maxShown = 12;

/**
 * The values that match no user. The console looks them up in batches, because the server stores line numbers but no
 * values.
 */
function UnmatchedValues({ sent }: { sent: SentFile }) {
  const { id: workspaceId } = useWorkspace();
  const { identifier, values } = sent;
  const [share, setShare] = useState(0);
  const unmatched = useQuery({
    queryKey: ['unmatched-values', workspaceId, sent.operationId],
    queryFn: async ({ signal }) => {
      const found: string[] = [];
      for (let start = 0; start < values.length; start += batchSize) {
        const batch = values.slice(start, start + batchSize);
        const places = await consoleClient.segments.findUnmatched({
          workspaceId,
          attributeName: identifier.attribute,
          attributeType: identifier.type,
          values: batch,
          signal,
        });
        found.push(...places.map((place) => batch[place]!));
        setShare(Math.min(1, (start + batchSize) / values.length));
      }
      return [...new Set(found)];
    },
    staleTime: Infinity,
  });
  if (unmatched.error !== null)
    return (
      <Stack gap="xs">
        <Failure error={unmatched.error} what="Unmatched values were not looked up" />
        <Button size="compact-sm" variant="default" w="fit-content" onClick={() => void unmatched.refetch()}>
          Retry
        </Button>
      </Stack>
    );
  if (unmatched.data === undefined)
    return (
      <Stack gap={4}>
        <Text size="sm">Looking up unmatched values…</Text>
        <Progress value={share * 100} aria-label="Part of the values that are looked up" transitionDuration={0} />
      </Stack>
    );
  const missing = unmatched.data;
  const isPart = values.length === maxRemembered;
  return (
    <Stack gap="xs" role="group" aria-label="Unmatched values">
      <Text size="sm">
        {missing.length === 0
          ? 'Every value matches a user.'
          : `${countText(missing.length)} ${missing.length === 1 ? 'value matches' : 'values match'} no user, or more than one.`}
        {isPart && ` The first ${countText(maxRemembered)} values were looked up.`}
      </Text>
      {missing.length > 0 && (
        <>
          <Group gap={6}>
            {missing.slice(0, maxShown).map((value) => (
              <Code key={value} style={{ overflowWrap: 'anywhere' }}>
                {value}
              </Code>
            ))}
            {missing.length > maxShown && <Text size="sm">{`and ${countText(missing.length - maxShown)} more`}</Text>}
          </Group>
          <Button
            size="compact-sm"
            variant="default"
            w="fit-content"
            leftSection={<IconDownload size={14} stroke={1.6} aria-hidden />}
            onClick={() => download(missing, identifier.attribute)}
          >
            Download CSV
          </Button>
        </>
      )}
    </Stack>
  );
}

function download(values: readonly string[], header: string): void {
  const file = new Blob([[header, ...values].map((value) => `${toCell(value)}\r\n`).join('')], { type: 'text/csv' });
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = 'unmatched.csv';
  link.click();
  URL.revokeObjectURL(address);
}

/** Formats CSV (RFC 4180). Values that a spreadsheet would evaluate become text, except phone numbers. */
function toCell(value: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(value) && !/^[+-][\d\s().-]+$/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
