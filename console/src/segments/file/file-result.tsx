import { Anchor, Button, Card, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { SegmentDetail } from '../../api/generated/segment-answers.ts';
import { consoleClient } from '../../console.ts';
import { ButtonLink } from '../../parts/button-link.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Notice } from '../../parts/notice.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useMay } from '../../session/use-session.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { FillProgress } from '../fill-progress.tsx';
import type { SentFile } from './use-send-file.ts';
import { UnmatchedValues } from './unmatched-values.tsx';

const number = (count: number) => count.toLocaleString('en');

type FileResultProps = { sent: SentFile; onAgain: () => void };

/** What the server did with a file: how far it is, whom it named, what was skipped, and what to do next. */
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
        <Failure
          error={segment.error}
          what="The state of the file is not known"
          onRetry={() => void segment.refetch()}
        />
      )}
      <Card withBorder role="region" aria-label="What became of the file">
        <Stack gap="md">
          {segment.data?.progress && <Filling progress={segment.data.progress} lines={sent.lines} />}
          {!isDone && !segment.data?.progress && <Text size="sm">The file waits to be read.</Text>}
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
      <Notice tone="error" role="alert" title={errorMessage ?? 'The file was not taken'}>
        {errorDetail ?? 'The segment is as it was.'}
      </Notice>
    );
  const skipped = valuesFound - (valuesProcessed ?? valuesFound);
  return (
    <>
      <Group gap="xl" align="flex-end">
        <div>
          <Text fz={28} fw={600} lh={1.15} data-count="named">
            {number(userCount ?? 0)}
          </Text>
          <Text size="sm">{`people ${did[kind]}`}</Text>
        </div>
        <div>
          <Text size="sm">{`${number(valuesFound)} lines`}</Text>
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
                {`${number(skipped)} skipped, with reasons (CSV)`}
              </Anchor>
            )}
          </Text>
        </div>
        <StatusBadge status={state} />
      </Group>
      {sent.values.length > 0 && mayRead && <UnmatchedValues sent={sent} />}
      {sent.lines === undefined && (
        <Text size="sm">Values of a file at a URL are not kept, so those that name nobody are not listed.</Text>
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
